"""Concepts: words of a query, side by side, that other words may stand for.

Words in quotes ask for themselves and have no synonyms; nor has a word that pages must not have. Of several
synonyms that begin at a word, the one of the most words counts.

People call a site by a short form of its name, which its own pages may never use. So a word of a plain query
that begins the name of a large site (evaluate/site_names.py) stands for that name too, but only in URLs:
`postgres create index` finds the page on www.postgresql.org that does not say `postgres`.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlctl.pipeline.search.query import tree
from crawlctl.pipeline.search.rules.rule_set import MAX_PHRASE, words_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawlctl.pipeline.search.rules.rule_set import Synonyms, Words

SYNONYM_SHARE = 0.8  # the weight of a synonym, as a share of the weight of the word that was typed


class Concept(NamedTuple):
    """Words that were typed side by side, and the synonyms that may stand for them."""

    leaves: tuple[tree.Word, ...]
    words: Words
    synonyms: tuple[Words, ...]
    in_urls: bool = False  # the synonyms are names of sites, which count in URLs only

    @property
    def text(self) -> str:
        """The words with their synonyms, as people write them."""
        sign = " = url:" if self.in_urls else " = "
        return sign.join(" ".join(words) for words in (self.words, *self.synonyms))


def concepts_of(node: tree.Node, synonyms: Synonyms) -> Iterator[Concept]:
    """Yield the words of a query that have synonyms."""
    if synonyms:
        for leaves in _runs(node):
            yield from _concepts_in(leaves, synonyms)


def site_concepts_of(node: tree.Node, names_of: Callable[[str], Iterable[str]]) -> Iterator[Concept]:
    """Yield the words of a query that begin the names of sites; `names_of` has the names for a word.

    A word that is the whole query asks for itself.
    """
    leaves = [leaf for run in _runs(node) for leaf in run if leaf.field is None]
    for leaf in leaves if len(leaves) > 1 else ():
        words = words_in(leaf.text)
        names = tuple((name,) for name in names_of(words[0])) if len(words) == 1 else ()
        if names:
            yield Concept((leaf,), words, names, in_urls=True)


def query_words(node: tree.Node) -> Words:
    """Return the words of a query by which rules know it: those that are not denied, without filters."""
    if type(node) in _WORDS_OF:
        return words_in(_WORDS_OF[type(node)](node))
    if isinstance(node, tree.Not):
        return ()
    return tuple(word for part in node.parts for word in query_words(part))


# The text of a leaf by whose words rules know a query. No rule names the beginning of a word, or a range.
_WORDS_OF: dict[type, Callable[[Any], str]] = {
    tree.Word: lambda leaf: leaf.text,
    tree.Exact: lambda leaf: leaf.text,
    tree.Phrase: lambda leaf: " ".join(leaf.words),
    tree.Prefix: lambda _: "",
    tree.Range: lambda _: "",
}


def _runs(node: tree.Node) -> Iterator[list[tree.Word]]:
    """Yield the words that stand side by side in one field, and are not denied."""
    if isinstance(node, tree.Word):
        yield [node]
    elif isinstance(node, tree.Or):
        for part in node.parts:
            yield from _runs(part)
    elif isinstance(node, tree.And):
        for field, parts in groupby(node.parts, key=_field_of):
            if field is not None:
                yield [part for part in parts if isinstance(part, tree.Word)]
                continue
            for part in parts:
                yield from _runs(part)


def _field_of(node: tree.Node) -> str | None:
    """Return the field of a word, "" for all fields; None if the node is no word."""
    return (node.field or "") if isinstance(node, tree.Word) else None


def _concepts_in(leaves: Sequence[tree.Word], synonyms: Synonyms) -> Iterator[Concept]:
    start = 0
    while start < len(leaves):
        found = _longest(leaves[start : start + MAX_PHRASE], synonyms)
        if found is not None:
            yield found
        start += 1 if found is None else len(found.leaves)


def _longest(leaves: Sequence[tree.Word], synonyms: Synonyms) -> Concept | None:
    """Return the concept of as many of the first words as possible."""
    for count in range(len(leaves), 0, -1):
        words = tuple(word for leaf in leaves[:count] for word in words_in(leaf.text))
        if words in synonyms:
            return Concept(tuple(leaves[:count]), words, synonyms[words])
    return None
