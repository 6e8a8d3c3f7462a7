"""Corrects the parentheses of a query before the grammar sees them.

Afterwards each parenthesis has its partner and none is empty. People paste titles and lines of code, so
`print(`, `(+)-limonene` and `f(*)` are not errors. Parentheses without any letter or digit in them are left
out, together with the sign right before them; a star in them is part of such code and not all pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.search.query.lexer import BLANK, CLOSE, END, OPEN, SIGNS, STAR, Token
from crawlctl.pipeline.search.query.query_errors import query_error

if TYPE_CHECKING:
    from collections.abc import Iterable

# People nest few levels. The limit is needed because the grammar and all walks over the tree are recursive.
MAX_DEPTH = 100

_WITHOUT_WORDS = frozenset({BLANK, STAR})


def balanced(tokens: Iterable[Token], source: str, notices: list[str]) -> list[Token]:
    """Return the tokens with their parentheses in pairs; add a notice for every change."""
    kept: list[Token] = []
    opened: list[int] = []  # the index in `kept` of each ( that is not closed yet
    for token in tokens:
        if token.kind == CLOSE and not opened:
            notices.append("a ) has no ( before it and is left out")
        elif token.kind == CLOSE:
            _close(kept, opened.pop(), token)
        elif token.kind == BLANK:
            _append_blank(kept, token)
        elif token.kind == END and opened:
            notices.append(f"{len(opened)} ( not closed; read as if there were as many ) at the end")
            while opened:
                _close(kept, opened.pop(), Token(CLOSE, CLOSE, token.at))
            kept.append(token)
        else:
            if token.kind == OPEN:
                opened.append(len(kept))
            kept.append(token)
        if len(opened) > MAX_DEPTH:
            raise query_error(
                f"parentheses nest more than {MAX_DEPTH} deep; remove needless ones", source, token.at
            )
    return kept


def _close(kept: list[Token], start: int, close: Token) -> None:
    """Add a ); or, if nothing since its ( at `start` can be searched for, replace all of it by one blank."""
    if any(kept[index].kind not in _WITHOUT_WORDS for index in range(start + 1, len(kept))):
        kept.append(close)
        return
    at, text = kept[start].at, " ".join(token.text for token in kept[start + 1 :])
    del kept[start:]
    _append_blank(kept, Token(BLANK, f"({text})", at))


def _append_blank(kept: list[Token], blank: Token) -> None:
    if kept and kept[-1].kind != BLANK and kept[-1].text in SIGNS:
        sign = kept.pop()
        blank = Token(BLANK, sign.text + blank.text, sign.at)
    kept.append(blank)
