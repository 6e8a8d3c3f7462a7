"""A query's tree written out again, in infix and in prefix form; each parses to the same tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.search.query.lexer import END, SITE, WORD, Lexer
from crawlctl.pipeline.search.query.tree import And, Not, Or, Phrase, Prefix, Range, Site, Word

if TYPE_CHECKING:
    from crawlctl.pipeline.search.query.tree import Leaf, Node


def infix(node: Node) -> str:
    """Return a tree as a person would write it: `a (b OR c) NOT d`."""
    if isinstance(node, And):
        return " ".join(_part(part) for part in node.parts)
    if isinstance(node, Or):
        return " OR ".join(_part(part) for part in node.parts)
    return _part(node)


def prefixed(node: Node) -> str:
    """Return a tree with its operators in front: `AND a (OR b c) NOT d`."""
    if isinstance(node, (And, Or)):
        return " ".join(("AND" if isinstance(node, And) else "OR", *map(_prefixed_part, node.parts)))
    return _prefixed_part(node)


def _part(node: Node) -> str:
    if isinstance(node, Not):
        return f"NOT {_part(node.part)}"
    return f"({infix(node)})" if isinstance(node, (And, Or)) else _leaf(node)


def _prefixed_part(node: Node) -> str:
    if isinstance(node, Not):
        return f"NOT {_prefixed_part(node.part)}"
    return f"({prefixed(node)})" if isinstance(node, (And, Or)) else _leaf(node)


def _leaf(leaf: Leaf) -> str:
    if isinstance(leaf, Site):
        return f"{SITE}:{leaf.host}"
    field = f"{leaf.field}:" if leaf.field else ""
    if isinstance(leaf, Phrase):
        return f'{field}"{" ".join(leaf.words)}"'
    if isinstance(leaf, Range):
        return f"{field}{leaf.low}..{leaf.high}"
    if isinstance(leaf, Prefix):
        return f"{field}{leaf.text}*"
    return field + _word(leaf)


def _word(word: Word) -> str:
    """Return a word, in quotes where it would be read as something else."""
    kinds = [token.kind for token in Lexer(word.text).tokens()]
    return word.text if kinds == [WORD, END] else f'"{word.text}"'
