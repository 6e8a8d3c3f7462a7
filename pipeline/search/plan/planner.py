"""Turns the tree of a query into a plan: which posting lists answer it, and what each weighs.

To plan a new operator, add a row to `_WORDS` if it is made of words or terms, else to `_STEPS`.
"""

from __future__ import annotations

from collections import Counter
from math import log
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.index.fields import INDEXED_FIELDS, MAX_IMPACT
from crawlctl.pipeline.search.plan.filter_plans import FILTER_STEPS, FilteredIndex
from crawlctl.pipeline.search.plan.steps import (
    ANY_FIELD,
    AllOf,
    AnyOf,
    DocumentRanges,
    PhraseOf,
    Plan,
    Terms,
)
from crawlctl.pipeline.search.query import tree
from crawlctl.pipeline.search.query.filters import Site
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crawlctl.pipeline.search.plan.lexicon import Entry, Lexicon
    from crawlctl.pipeline.search.plan.steps import Step

MAX_WORDS = 4096
RANK_WEIGHT = 0.5  # the most that PageRank adds to a score; with more, front pages of sites come first

_WWW = "www."
_SCALE = 1024
_MAX_SCORE = (1 << 31) - 1  # the vector evaluator counts in 32 bits
_MASKS: dict[str | None, int] = {name: 1 << number for number, name in enumerate(INDEXED_FIELDS)}
_MASKS[None] = ANY_FIELD


class PlannedIndex(FilteredIndex, Protocol):
    """What the planner asks an open index."""

    @property
    def documents(self) -> int:
        """The number of documents that can be found."""

    def host_ranges(self, host: str) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Return the ranges of doc ids of a host and its subdomains, by segment."""

    def fetched_ranges(self) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Return the ranges of doc ids of all pages that were fetched, by segment."""


class _Word(msgspec.Struct, frozen=True):
    """A word of a query, and the fields it is asked for in."""

    text: str
    mask: int


def plan_query(query: tree.Query, index: PlannedIndex) -> Plan:
    """Return the plan of a query for an index."""
    notices: list[str] = []
    node = _with_known_hosts(query.tree, index, notices)
    planner = _Planner(node, index)
    if query.plain:
        step, loose = planner.plain()
    else:
        step, loose = planner.step(node, ranks=True), None
    return Plan(step, loose, planner.scale, planner.prior_weight, tuple(notices))


def _with_known_hosts(node: tree.Node, index: PlannedIndex, notices: list[str]) -> tree.Node:
    """Return the tree with hosts without `www.` where the index knows a site by that name only."""
    if isinstance(node, (tree.And, tree.Or)):
        parts = tuple(_with_known_hosts(part, index, notices) for part in node.parts)
        return msgspec.structs.replace(node, parts=parts) if parts != node.parts else node
    if isinstance(node, tree.Not):
        part = _with_known_hosts(node.part, index, notices)
        return tree.Not(part) if part != node.part else node
    if not isinstance(node, Site) or not node.host.startswith(_WWW):
        return node
    bare = msgspec.structs.replace(node, host=node.host.removeprefix(_WWW))
    if index.host_ranges(node.host) or not index.host_ranges(bare.host):
        return node
    notices.append(f"no page is on {node.host}; searched on {bare.host}")
    return bare


class _Planner:
    """Plans one query: first looks up all its words at once, then builds the steps."""

    def __init__(self, node: tree.Node, index: PlannedIndex) -> None:
        self._index = index
        self._entries: dict[str, Entry] = {}
        self._asked: list[tuple[_Word, ...]] = []  # the words of each leaf that is not denied
        self._words: dict[int, tuple[_Word, ...]] = {}  # of all leaves, by the identity of the leaf
        self._gather(node, denied=False)
        unknown = {word.text for words in self._words.values() for word in words} - self._entries.keys()
        if len(unknown) > MAX_WORDS:
            raise QueryError(f"the query has more than {MAX_WORDS:,} different words; leave some out")
        self._entries.update(index.lexicon.entries(unknown))
        asked = [word.text for words in self._asked for word in words]
        # Where all words are stop words, all of them rank.
        self._all_rank = not any(self._entries[text].is_telling for text in asked)
        self._idfs = {text: self._idf(entry) for text, entry in self._entries.items()}
        self.scale = _fitting_scale(RANK_WEIGHT + sum(self._idfs[text] for text in asked), len(asked))
        self.prior_weight = round(RANK_WEIGHT * self.scale)

    def plain(self) -> tuple[Step, Step]:
        """Return the steps of a plain query: documents with all its telling words, and with any of them."""
        counts = Counter[_Word]()
        parts = []
        for words, times in Counter(self._asked).items():
            telling = [word for word in words if self._ranks(word)]
            if telling:
                parts.append(self._joined(words, ranks=True, times=times))
            for word in telling:
                counts[word] += times
        loose = tuple(self._terms(word, ranks=True, times=times) for word, times in counts.items())
        return (parts[0] if len(parts) == 1 else AllOf(tuple(parts))), AnyOf(loose)

    def step(self, node: tree.Node, *, ranks: bool) -> Step:
        """Return the step of a node; without `ranks` its words select documents and add no score."""
        return _STEPS.get(type(node), _Planner._words_step)(self, node, ranks)

    def _all_of(self, node: tree.And, ranks: bool) -> Step:
        wanted = [part for part in node.parts if not isinstance(part, tree.Not)]
        unwanted = [part.part for part in node.parts if isinstance(part, tree.Not)]
        return AllOf(
            tuple(self.step(part, ranks=ranks) for part in wanted),
            tuple(self.step(part, ranks=False) for part in unwanted),
        )

    def _any_of(self, node: tree.Or, ranks: bool) -> Step:
        return AnyOf(tuple(self.step(part, ranks=ranks) for part in node.parts))

    def _refuse(self, node: tree.Not, ranks: bool) -> Step:
        raise QueryError("this only excludes pages; add words that the pages should have")

    def _site(self, node: Site, ranks: bool) -> Step:
        on_host = DocumentRanges(node.infix(), self._index.host_ranges(node.host))
        words = self._words[id(node)]
        return AllOf((on_host, self._joined(words, ranks=False))) if words else on_host

    def _filtered(self, node: tree.Node, ranks: bool) -> Step:
        return FILTER_STEPS[type(node)](node, self._index)

    def _all_pages(self, node: tree.AllPages, ranks: bool) -> Step:
        return DocumentRanges(node.infix(), self._index.fetched_ranges())

    def _words_step(self, leaf: tree.FieldLeaf, ranks: bool) -> Step:
        return self._joined(self._words[id(leaf)], ranks=ranks)

    def _gather(self, node: tree.Node, *, denied: bool) -> None:
        """Collect the words of all leaves."""
        denied = denied or isinstance(node, tree.Not)
        for part in node.parts:
            self._gather(part, denied=denied)
        if type(node) in _WORDS:
            words = self._words[id(node)] = tuple(self._words_of(node))
            if not denied and not isinstance(node, Site):
                self._asked.append(words)

    def _words_of(self, leaf: Any) -> Iterator[_Word]:
        for text, entry in _WORDS[type(leaf)](leaf, self._index.lexicon):
            if entry is not None:
                self._entries[text] = entry
            yield _Word(text, _MASKS[leaf.field])

    def _joined(self, words: tuple[_Word, ...], *, ranks: bool, times: int = 1) -> Step:
        steps = tuple(self._terms(word, ranks=ranks, times=times) for word in words)
        return steps[0] if len(steps) == 1 else PhraseOf(steps)

    def _terms(self, word: _Word, *, ranks: bool, times: int = 1) -> Terms:
        entry, idf = self._entries[word.text], self._idfs[word.text]
        weight = times * max(1, round(idf * self.scale)) if ranks and self._ranks(word) else 0
        return Terms(word.text, entry.terms, entry.infos, word.mask, idf, weight)

    def _ranks(self, word: _Word) -> bool:
        return self._all_rank or self._entries[word.text].is_telling

    def _idf(self, entry: Entry) -> float:
        documents = max(1, self._index.documents)
        found = min(entry.postings, documents)
        return log(1 + (documents - found + 0.5) / (found + 0.5))


# How a node becomes a step. A leaf that is made of words becomes one in `_words_step`.
_STEPS: dict[type, Callable[[_Planner, Any, bool], Step]] = {
    tree.And: _Planner._all_of,
    tree.Or: _Planner._any_of,
    tree.Not: _Planner._refuse,
    Site: _Planner._site,
    **dict.fromkeys(FILTER_STEPS, _Planner._filtered),
    tree.AllPages: _Planner._all_pages,
}


def _words_in(leaf: tree.Word, _lexicon: Lexicon) -> Iterator[tuple[str, None]]:
    return ((word, None) for word in tokens(leaf.text))


def _words_in_path(leaf: Site, _lexicon: Lexicon) -> Iterator[tuple[str, None]]:
    return ((word, None) for word in tokens(f"{leaf.host}/{leaf.path}") if leaf.path)


def _words_in_phrase(leaf: tree.Phrase, _lexicon: Lexicon) -> Iterator[tuple[str, None]]:
    return ((word, None) for word in tokens(" ".join(leaf.words)))


def _words_with_prefix(leaf: tree.Prefix, lexicon: Lexicon) -> Iterator[tuple[str, Entry]]:
    from crawlctl.pipeline.search.plan.expansions import prefix_entry

    yield f"{leaf.text}*", prefix_entry(leaf.text, lexicon)


def _words_in_range(leaf: tree.Range, lexicon: Lexicon) -> Iterator[tuple[str, Entry]]:
    from crawlctl.pipeline.search.plan.expansions import range_entry

    yield f"{leaf.low}..{leaf.high}", range_entry(leaf.low, leaf.high, lexicon)


# The words of a leaf: each with its entry, or None where the lexicon has to look it up.
_WORDS: dict[type, Callable[[Any, Lexicon], Iterator[tuple[str, Entry | None]]]] = {
    tree.Word: _words_in,
    tree.Phrase: _words_in_phrase,
    Site: _words_in_path,
    tree.Prefix: _words_with_prefix,
    tree.Range: _words_in_range,
}


def _fitting_scale(most: float, words: int) -> int:
    """Return the largest scale, 1024 at most, at which the highest possible score can be counted."""
    scale = _SCALE
    while scale > 1 and (most * scale + words) * MAX_IMPACT > _MAX_SCORE:
        scale >>= 1
    return scale
