"""Parentheses of a query put right before its grammar sees them: none missing, none too many, none empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.search.complaint import complaint
from crawlctl.pipeline.search.lexer import BLANK, CLOSE, END, OPEN, Token

if TYPE_CHECKING:
    from collections.abc import Iterable

# A person nests a handful; the grammar and all that walks the tree may then call itself once a level.
MAX_DEPTH = 100


def balanced(tokens: Iterable[Token], source: str, notices: list[str]) -> list[Token]:
    """Return the tokens with their parentheses in pairs; what was changed goes to the notices."""
    kept: list[Token] = []
    depth = 0
    for token in tokens:
        if token.kind == CLOSE and not depth:
            notices.append("a ) has no ( before it and is left out")
            continue
        if token.kind == END and depth:
            notices.append(f"{depth} ( not closed; read as if there were as many ) at the end")
            kept += [Token(CLOSE, CLOSE, token.at)] * depth
        depth += (token.kind == OPEN) - (token.kind == CLOSE)
        if depth > MAX_DEPTH:
            raise complaint(
                f"parentheses nest more than {MAX_DEPTH} deep; leave out those not needed", source, token.at
            )
        if token.kind == CLOSE and kept[-1].kind == OPEN:
            kept[-1] = Token(BLANK, "()", kept[-1].at)  # as in print()
        else:
            kept.append(token)
    return kept
