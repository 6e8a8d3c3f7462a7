"""From what a query asks for to the posting lists that answer it."""

from __future__ import annotations

from collections import Counter
from math import log
from typing import TYPE_CHECKING, Protocol

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.search.plan.steps import (
    ANY_FIELD,
    MAX_IMPACT,
    AllOf,
    AnyOf,
    DocumentRanges,
    Phrase,
    Plan,
    Terms,
)
from crawlctl.pipeline.search.query import tree
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.search.plan.lexicon import Entry, Lexicon
    from crawlctl.pipeline.search.plan.steps import Step

MAX_WORDS = 4096

_SCALE = 1024
_MAX_UNITS = (1 << 31) - 1  # what the numbers of the warm evaluator hold
_MASKS: dict[str | None, int] = {name: 1 << number for number, name in enumerate(INDEXED_FIELDS)}
_MASKS[None] = ANY_FIELD


class Planned(Protocol):
    """What a planner asks an index."""

    @property
    def documents(self) -> int:
        """The number of documents that can be found."""

    @property
    def lexicon(self) -> Lexicon:
        """What words stand for."""

    def host_ranges(self, host: str) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Return the ordinals of a host and its subdomains, by segment."""


class _Token(msgspec.Struct, frozen=True):
    """A word of a query, and the fields it is asked for in."""

    text: str
    mask: int


def plan_query(query: tree.Query, index: Planned, rank_weight: float = 1.0) -> Plan:
    """Return the plan of a query; `rank_weight` is what the highest rank of a page adds to a score."""
    planner = _Planner(query.tree, index, rank_weight)
    if query.plain:
        step, loose = planner.plain()
    else:
        step, loose = planner.step(query.tree, ranks=True), None
    return Plan(step, loose, planner.scale, planner.prior_weight)


class _Planner:
    def __init__(self, node: tree.Node, index: Planned, rank_weight: float) -> None:
        self._index = index
        self._entries: dict[str, Entry] = {}
        self._asked: list[tuple[_Token, ...]] = []  # what is not denied
        self._drafts: dict[int, tuple[_Token, ...]] = {}  # by the identity of the leaf
        self._gather(node, denied=False)
        words = {token.text for draft in self._drafts.values() for token in draft} - self._entries.keys()
        if len(words) > MAX_WORDS:
            raise QueryError(f"the query has more than {MAX_WORDS:,} different words; leave some out")
        self._entries.update(index.lexicon.entries(words))
        asked = [token.text for draft in self._asked for token in draft]
        # Where no word says anything, all of them are asked for.
        self._all_rank = not any(self._entries[text].is_telling for text in asked)
        self._idfs = {text: self._idf(entry) for text, entry in self._entries.items()}
        self.scale = _fitting_scale(rank_weight + sum(self._idfs[text] for text in asked), len(asked))
        self.prior_weight = round(rank_weight * self.scale)

    def plain(self) -> tuple[Step, Step]:
        """Return what matches all words that say something, and what matches any of them."""
        drafts = Counter(self._asked)
        words = Counter[_Token]()
        parts = []
        for draft, times in drafts.items():
            telling = [token for token in draft if self._ranks(token)]
            if telling:
                parts.append(self._joined(draft, ranks=True, times=times))
            for token in telling:
                words[token] += times
        loose = tuple(self._terms(token, ranks=True, times=times) for token, times in words.items())
        return (parts[0] if len(parts) == 1 else AllOf(tuple(parts))), AnyOf(loose)

    def step(self, node: tree.Node, *, ranks: bool) -> Step:
        """Return what matches a node of the tree."""
        if isinstance(node, tree.And):
            wanted = [part for part in node.parts if not isinstance(part, tree.Not)]
            unwanted = [part.part for part in node.parts if isinstance(part, tree.Not)]
            return AllOf(
                tuple(self.step(part, ranks=ranks) for part in wanted),
                tuple(self.step(part, ranks=False) for part in unwanted),
            )
        if isinstance(node, tree.Or):
            return AnyOf(tuple(self.step(part, ranks=ranks) for part in node.parts))
        if isinstance(node, tree.Not):
            raise QueryError("this asks for all pages but some; add what they should have")
        if isinstance(node, tree.Site):
            return DocumentRanges(node.host, self._index.host_ranges(node.host))
        return self._joined(self._drafts[id(node)], ranks=ranks)

    def _gather(self, node: tree.Node, *, denied: bool) -> None:
        """Cut the words of all leaves into tokens."""
        if isinstance(node, (tree.And, tree.Or)):
            for part in node.parts:
                self._gather(part, denied=denied)
        elif isinstance(node, tree.Not):
            self._gather(node.part, denied=True)
        else:
            draft = self._drafts[id(node)] = self._draft(node)
            if not denied:
                self._asked.append(draft)

    def _draft(self, leaf: tree.Leaf) -> tuple[_Token, ...]:
        if isinstance(leaf, tree.Site):
            return ()
        mask = _MASKS[leaf.field]
        if isinstance(leaf, tree.Word):
            return tuple(_Token(word, mask) for word in tokens(leaf.text))
        if isinstance(leaf, tree.Phrase):
            return tuple(_Token(word, mask) for word in tokens(" ".join(leaf.words)))
        from crawlctl.pipeline.search.plan.expansions import numbers_between, terms_beginning

        if isinstance(leaf, tree.Prefix):
            text, entry = terms_beginning(leaf.text, self._index.lexicon)
        else:
            text, entry = numbers_between(leaf.low, leaf.high, self._index.lexicon)
        self._entries[text] = entry
        return (_Token(text, mask),)

    def _joined(self, draft: tuple[_Token, ...], *, ranks: bool, times: int = 1) -> Step:
        words = tuple(self._terms(token, ranks=ranks, times=times) for token in draft)
        return words[0] if len(words) == 1 else Phrase(words)

    def _terms(self, token: _Token, *, ranks: bool, times: int = 1) -> Terms:
        entry, idf = self._entries[token.text], self._idfs[token.text]
        weight = times * max(1, round(idf * self.scale)) if ranks and self._ranks(token) else 0
        return Terms(token.text, entry.terms, entry.places, token.mask, idf, weight)

    def _ranks(self, token: _Token) -> bool:
        return self._all_rank or self._entries[token.text].is_telling

    def _idf(self, entry: Entry) -> float:
        documents = max(1, self._index.documents)
        found = min(entry.postings, documents)
        return log(1 + (documents - found + 0.5) / (found + 0.5))


def _fitting_scale(most: float, words: int) -> int:
    """Return how many units make a score of 1, so that the highest possible score can be counted."""
    scale = _SCALE
    while scale > 1 and (most * scale + words) * MAX_IMPACT > _MAX_UNITS:
        scale >>= 1
    return scale
