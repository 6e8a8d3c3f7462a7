"""Turns the tree of a query into a plan: which posting lists answer it, and what each weighs.

What is typed without a space between, as `2.1.6` or `std::any`, is words side by side, and all of them count,
stop words and single characters too. Elsewhere a stop word only selects, and only in phrases. So does the
single character that an apostrophe cuts off (`John's`), and one that stands alone in a query as long as a
sentence; in a short query, as `python 3`, it counts.

To plan a new operator, add a row to `_WORDS` if it is made of words or terms, else to `_STEPS`.
"""

from __future__ import annotations

from collections import Counter
from math import log
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.index.fields import INDEXED_FIELDS, MAX_IMPACT
from crawlctl.pipeline.search.plan.asked_names import Asked, asked_names
from crawlctl.pipeline.search.plan.filter_plans import FILTER_STEPS, FilteredIndex
from crawlctl.pipeline.search.plan.most_words import most_words
from crawlctl.pipeline.search.plan.proximity import MAX_WORDS as MAX_NEAR_WORDS
from crawlctl.pipeline.search.plan.proximity import QUALITY_WEIGHT, Proximity
from crawlctl.pipeline.search.plan.query_plan import Plan
from crawlctl.pipeline.search.plan.readings import readings_of
from crawlctl.pipeline.search.plan.steps import (
    ANY_FIELD,
    AllOf,
    AnyOf,
    BestOf,
    Defining,
    DocumentRanges,
    PhraseOf,
    Terms,
)
from crawlctl.pipeline.search.plan.synonyms import SYNONYM_SHARE, concepts_of, query_words, site_concepts_of
from crawlctl.pipeline.search.query import tree
from crawlctl.pipeline.search.query.filters import Site
from crawlctl.pipeline.search.rules.search_rules import SearchRules
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from crawlctl.pipeline.search.plan.lexicon import Entry, Lexicon
    from crawlctl.pipeline.search.plan.steps import Step
    from crawlctl.pipeline.search.plan.synonyms import Concept
    from crawlctl.pipeline.search.rules.rule_set import Words

NO_RULES = SearchRules(None, (), ())
PINNED = "pinned by search.pins"
MAX_WORDS = 4096
# in words. In a short query like `plan b` a single character counts; in a sentence it is an initial or a
# number.
MAX_SHORT_QUERY = 6
# what a page gets for defining a name, as a multiple of the most that the words of the name can add
NAME_WEIGHT = 2.0
RANK_WEIGHT = 0.25  # the most that PageRank adds to a score; with 1, section titles are found less often

_APOSTROPHES = "'\u2019"
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

    def sites_named(self, word: str) -> Sequence[str]:
        """Return the names of large sites that begin with a word."""

    @property
    def rules(self) -> SearchRules:
        """The synonyms, pins, blocks and boosts of the crawl."""

    def ranges_of(self, documents: Iterable[int]) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Return documents as ranges of doc ids, by segment."""


class _Word(msgspec.Struct, frozen=True):
    """A word of a query, the fields it is asked for in, and whether it ranks even as a stop word."""

    text: str
    mask: int
    ranks: bool | None = None  # True: always; False: never; None: unless it is a stop word

    @property
    def is_character(self) -> bool:
        return len(self.text) == 1 and self.text.isascii()


_Readings = tuple[tuple[_Word, ...], ...]  # of a leaf; each is words side by side, and one of them must match


def plan_query(query: tree.Query, index: PlannedIndex, *, ruled: bool = True) -> Plan:
    """Return the plan of a query for an index.

    Unless `ruled`, neither the rules of the operator count, nor the names of sites: pages have the words.
    """
    notices: list[str] = []
    node = _with_known_hosts(query.tree, index, notices)
    rules = index.rules if ruled else NO_RULES
    planner = _Planner(node, index, rules, plain=query.plain, named_sites=query.plain and ruled)
    if query.plain:
        step, loose = planner.plain()
    else:
        step, loose = planner.step(node, ranks=True), None
    notices += planner.notices
    proximity = planner.proximity()
    most = most_words(proximity) if query.plain else None
    plan = Plan(
        step, loose, planner.scale, planner.prior_weight, tuple(notices), proximity, planner.names, most=most
    )
    return plan if rules.is_empty else _with_rules(plan, query, planner.synonyms, rules, index)


def _with_rules(
    plan: Plan, query: tree.Query, synonyms: tuple[Words, ...], rules: SearchRules, index: PlannedIndex
) -> Plan:
    """Return the plan with synonyms, pins, blocks and boosts (search/rules)."""
    words = query_words(query.tree)
    pins = rules.pinned(words) if query.plain else ()
    step, loose = plan.step, plan.loose
    if pins:
        pinned = DocumentRanges(PINNED, index.ranges_of(pins))
        step, loose = AnyOf((step, pinned)), None if loose is None else AnyOf((loose, pinned))
    return msgspec.structs.replace(
        plan,
        step=step,
        loose=loose,
        synonyms=synonyms,
        pins=pins,
        blocked=rules.blocked(words),
        boosts=rules.boosts,
    )


def _with_known_hosts(node: tree.Node, index: PlannedIndex, notices: list[str]) -> tree.Node:
    """Return the tree with hosts without `www.` where the index knows a site by that name only."""
    parts = tuple(_with_known_hosts(part, index, notices) for part in node.parts)
    if parts != node.parts:
        return node.with_parts(parts)
    if not isinstance(node, Site) or not node.host.startswith(_WWW):
        return node
    bare = msgspec.structs.replace(node, host=node.host.removeprefix(_WWW))
    if index.host_ranges(node.host) or not index.host_ranges(bare.host):
        return node
    notices.append(f"no page is on {node.host}; searched on {bare.host}")
    return bare


class _Planner:
    """Plans one query: first looks up all its words at once, then builds the steps."""

    def __init__(
        self, node: tree.Node, index: PlannedIndex, rules: SearchRules, *, plain: bool, named_sites: bool
    ) -> None:
        self._index = index
        concepts = list(concepts_of(node, rules.synonyms))
        if named_sites:
            ruled = {id(leaf) for one in concepts for leaf in one.leaves}
            sites = site_concepts_of(node, index.sites_named)
            concepts += (one for one in sites if id(one.leaves[0]) not in ruled)
        self._concepts = {id(one.leaves[0]): one for one in concepts}
        self._entries: dict[str, Entry] = {}
        self._asked: list[_Readings] = []  # of each leaf that is not denied
        self._asked_leaves: list[tuple[int, _Readings]] = []  # the same, with the identity of the leaf
        self._words: dict[int, _Readings] = {}  # of all leaves, by the identity of the leaf
        self._gather(node, denied=False)
        unknown = {word.text for word in _all_words(self._words.values())} - self._entries.keys()
        unknown |= {word for one in self._concepts.values() for words in one.synonyms for word in words}
        if len(unknown) > MAX_WORDS:
            raise QueryError(f"the query has more than {MAX_WORDS:,} different words; leave some out")
        asked = list(_all_words(self._asked))
        self._is_prose = len(self._asked) > MAX_SHORT_QUERY
        # Only a plain query asks for names; to look one up reads a block of the dictionary.
        names = self._asked_names() if plain else []
        index.lexicon.look_up(unknown, [name.key for name in names])
        self._entries.update(index.lexicon.entries(unknown))
        self._all_rank = False
        # Where all words are stop words, all of them rank.
        self._all_rank = not any(map(self._ranks, asked))
        self._idfs = {text: self._idf(entry) for text, entry in self._entries.items()}
        self._blend_idfs()
        self._names = self._defined(names) if names else {}
        words = sum(self._idfs[word.text] for word in asked)
        most = (RANK_WEIGHT + words * (1 + NAME_WEIGHT * len(self._names))) * rules.most_boost
        self.scale = _fitting_scale(most, len(asked))
        self.prior_weight = round(RANK_WEIGHT * self.scale)

    @property
    def names(self) -> tuple[str, ...]:
        """The keys of the names in the query that some page defines."""
        return tuple(asked.key for asked in self._names)

    def _asked_names(self) -> list[Asked]:
        """Return the names that the query may ask for."""
        if self._is_prose or any(word.mask != ANY_FIELD for word in _all_words(self._asked)):
            return []
        return asked_names([[word.text for word in readings[0]] for readings in self._asked])

    def _defined(self, names: Sequence[Asked]) -> dict[Asked, Entry]:
        """Return those of some names that pages define, and where these are listed."""
        found = self._index.lexicon.name_entries(asked.key for asked in names)
        return {asked: found[asked.key] for asked in names if asked.key in found}

    def _defining(self) -> list[Step]:
        """Return the steps of pages that define a name of the query; other words are in title or URL."""
        steps: list[Step] = []
        for asked, entry in self._names.items():
            first, last = asked.leaves
            inside = [word for readings in self._asked[first:last] for word in readings[0]]
            others = [*self._asked[:first], *self._asked[last:]]
            idf = sum(self._idfs[word.text] for word in inside)
            weight = max(1, round(NAME_WEIGHT * idf * self.scale))
            text = " ".join(word.text for word in inside)
            defining = Defining(f"name: {text}", entry.terms, entry.infos, ANY_FIELD, idf, weight)
            rest = [step for readings in others for step in self._titled(readings)]
            steps.append(AllOf((defining, *rest)) if rest else defining)
        return steps

    def _titled(self, readings: _Readings) -> Iterator[Step]:
        """Yield the pages with words in the title or the URL, which say what project a page is of."""
        found = self._found(readings)
        steps = [[self._titled_word(word) for word in words if self._tells(word)] for words in found]
        if len(found) > 1 and _are_spellings(found) and len(steps[0]) == 1:
            yield AnyOf(tuple(step for words in steps for step in words))
        else:
            yield from steps[0]

    def _titled_word(self, word: _Word) -> Terms:
        entry = self._entries[word.text]
        return Terms(word.text, entry.terms, entry.infos, _MASKS["title"] | _MASKS["url"])

    @property
    def notices(self) -> list[str]:
        """What a user should know about the words that were looked up."""
        found = [entry.notice for entry in self._entries.values() if entry.notice]
        for concept in self._concepts.values():
            if known := self._known(concept):
                named = ", ".join(" ".join(words) for words in known)
                typed = " ".join(leaf.text for leaf in concept.leaves)
                where = " in URLs" if concept.in_urls else ""
                found.append(
                    f'also searched for {named}{where}; for {typed} alone, write "{typed}" in quotes'
                )
        return list(dict.fromkeys(found))

    def plain(self) -> tuple[Step, Step]:
        """Return the steps of a plain query: documents with all its telling words, and with any of them."""
        counts = Counter[_Word]()
        parts: list[Step] = []
        others: list[Step] = []
        in_concepts = {id(leaf) for one in self._concepts.values() for leaf in one.leaves}
        asked = [readings for leaf, readings in self._asked_leaves if leaf not in in_concepts]
        for concept in self._concepts.values():
            if any(self._telling_readings(concept)):
                parts.append(self._concept_step(concept))
                others.append(self._concept_step(concept, loosely=True))
        for readings, times in Counter(asked).items():
            first, *rest = self._found(readings)
            if any(map(self._ranks, first)):
                parts.append(self._joined(readings, ranks=True, times=times))
                if rest and _are_spellings((first, *rest)):
                    others.append(self._joined(readings, ranks=True, times=times))
                    continue
                counts.update({word: times for word in first if self._tells(word)})
                others += self._side_by_side_of(first, times)
                others += (self._side_by_side(words, ranks=True, times=times) for words in rest)
        loose = [self._terms(word, ranks=True, times=times) for word, times in counts.items()]
        step = parts[0] if len(parts) == 1 else AllOf(tuple(parts))
        defining = self._defining()
        full = AnyOf((step, *defining)) if defining else step
        return full, AnyOf((*loose, *others, *defining))

    def _telling_readings(self, concept: Concept) -> list[_Readings]:
        """Return the readings of the words of a concept that rank."""
        readings = [self._words[id(leaf)] for leaf in concept.leaves]
        return [one for one in readings if any(map(self._ranks, self._found(one)[0]))]

    def _concept_step(self, concept: Concept, *, loosely: bool = False) -> Step:
        """Return the words that were typed or, with less weight, a synonym of them.

        If `loosely`, one of several words that were typed is enough.
        """
        telling = self._telling_readings(concept)
        steps = tuple(self._joined(one, ranks=True) for one in telling)
        typed = steps[0] if len(steps) == 1 else AnyOf(steps) if loosely else AllOf(steps)
        words = (word for one in telling for word in self._found(one)[0])
        weight = sum(self._terms(word, ranks=True).weight for word in words)
        mask = _MASKS["url" if concept.in_urls else concept.leaves[0].field]
        found = tuple(self._synonym(one, mask, weight) for one in self._known(concept))
        return BestOf((typed, *found), concept.text) if found else typed

    def _known(self, concept: Concept) -> list[Words]:
        """Return the synonyms that a page may have.

        A word that is on more pages than the name of a site, such as `http` and httpd.apache.org, is no short
        form of the name.
        """
        typed = self._words[id(concept.leaves[0])][0][0].text
        least = self._entries[typed].postings + 1 if concept.in_urls else 1
        return [
            words
            for words in concept.synonyms
            if all(self._entries[word].postings >= least for word in words)
        ]

    def _synonym(self, words: Words, mask: int, weight: int) -> Step:
        """Return a step for the words of a synonym, which weigh a little less than the word as typed."""
        whole = sum(self._idfs[word] for word in words)
        steps = []
        for word in words:
            share = SYNONYM_SHARE * self._idfs[word] / whole
            entry, own = self._entries[word], max(1, int(share * weight))
            steps.append(Terms(word, entry.terms, entry.infos, mask, own / self.scale, own))
        return steps[0] if len(steps) == 1 else PhraseOf(tuple(steps))

    def _blend_idfs(self) -> None:
        """Give a word the idf of its most frequent synonym if that is lower: both mean the same."""
        for concept in self._concepts.values():
            typed = [word for leaf in concept.leaves for word in self._words[id(leaf)][0]]
            if len(typed) == 1:
                single = [words[0] for words in self._known(concept) if len(words) == 1]
                self._idfs[typed[0].text] = min(self._idfs[word] for word in (typed[0].text, *single))

    @property
    def synonyms(self) -> tuple[Words, ...]:
        """The synonyms that were searched for too in all fields."""
        concepts = (one for one in self._concepts.values() if not one.in_urls)
        return tuple(dict.fromkeys(words for one in concepts for words in self._known(one)))

    def _side_by_side_of(self, words: tuple[_Word, ...], times: int) -> Iterator[Step]:
        """Yield a phrase of the words if some of them count only side by side; others have counted alone."""
        if any(self._ranks(word) and not self._tells(word) for word in words):
            steps = (self._terms(word, ranks=not self._tells(word), times=times) for word in words)
            yield PhraseOf(tuple(steps))

    def proximity(self) -> Proximity | None:
        """Return the words that rank in any field, in their order; None if there is none."""
        words: list[Terms] = []
        placed: list[Terms] = []
        offsets: list[int] = []
        length = 0
        for readings in self._asked:
            for word in self._found(readings)[0]:
                if word.mask == ANY_FIELD and len(words) < MAX_NEAR_WORDS and self._ranks(word):
                    words.append(self._with_synonyms(self._terms(word, ranks=True)))
                    placed.append(_placed(words[-1], self._entries[word.text]))
                    offsets.append(length)
                length += 1
        quality_weight = round(QUALITY_WEIGHT * self.scale)
        if not words:
            return None
        read = tuple(placed) if len(words) > 1 else ()
        return Proximity(tuple(words), read, tuple(offsets), length, quality_weight)

    def _with_synonyms(self, terms: Terms) -> Terms:
        """Return the terms of a word and of the words that stand for it: their positions count alike."""
        if not self._concepts:
            return terms
        others = [
            self._entries[words[0]]
            for concept in self._concepts.values()
            if concept.words == (terms.text,) and not concept.in_urls
            for words in self._known(concept)
            if len(words) == 1
        ]
        infos = dict(terms.infos)
        for entry in others:
            for segment, some in entry.infos.items():
                infos[segment] = tuple(dict.fromkeys((*infos.get(segment, ()), *some)))
        names = (*terms.terms, *(term for entry in others for term in entry.terms))
        return msgspec.structs.replace(terms, terms=tuple(dict.fromkeys(names)), infos=infos)

    def step(self, node: tree.Node, *, ranks: bool) -> Step:
        """Return the step of a node; without `ranks` its words select documents and add no score."""
        return _STEPS.get(type(node), _Planner._words_step)(self, node, ranks)

    def _all_of(self, node: tree.And, ranks: bool) -> Step:
        wanted = [part for part in node.parts if not isinstance(part, tree.Not)]
        unwanted = [part.part for part in node.parts if isinstance(part, tree.Not)]
        return AllOf(
            tuple(self._steps_of(wanted, ranks)),
            tuple(self.step(part, ranks=False) for part in unwanted),
        )

    def _steps_of(self, parts: Iterable[tree.Node], ranks: bool) -> Iterator[Step]:
        """Yield the steps of the parts of an And; words side by side that have a synonym are one step."""
        done: set[int] = set()
        for part in parts:
            concept = self._concepts.get(id(part))
            if concept is not None and self._telling_readings(concept):
                done.update(map(id, concept.leaves))
                yield self._concept_step(concept)
            elif id(part) not in done:
                yield self.step(part, ranks=ranks)

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
        concept = self._concepts.get(id(leaf))
        if concept is not None and len(concept.leaves) == 1 and self._telling_readings(concept):
            return self._concept_step(concept)
        return self._joined(self._words[id(leaf)], ranks=ranks)

    def _gather(self, node: tree.Node, *, denied: bool) -> None:
        """Collect the words of all leaves."""
        denied = denied or isinstance(node, tree.Not)
        for part in node.parts:
            self._gather(part, denied=denied)
        if type(node) in _WORDS:
            found = self._words[id(node)] = tuple(self._readings_of(node))
            if not denied and not isinstance(node, Site):
                self._asked.append(found)
                self._asked_leaves.append((id(node), found))

    def _readings_of(self, leaf: Any) -> Iterator[tuple[_Word, ...]]:
        for reading in _WORDS[type(leaf)](leaf, self._index.lexicon):
            for text, entry, _ in reading:
                if entry is not None:
                    self._entries[text] = entry
            yield tuple(_Word(text, _MASKS[leaf.field], ranks) for text, _, ranks in reading)

    def _found(self, readings: _Readings) -> list[tuple[_Word, ...]]:
        """Return the readings that a page may have, or the first if there is none."""
        found = [words for words in readings if all(self._entries[word.text].postings for word in words)]
        return found or [readings[0]]

    def _joined(self, readings: _Readings, *, ranks: bool, times: int = 1) -> Step:
        found = self._found(readings)
        steps = tuple(self._side_by_side(words, ranks=ranks, times=times) for words in found)
        if len(steps) == 1:
            return steps[0]
        if _are_spellings(found):
            return BestOf(steps, " or ".join(" ".join(word.text for word in words) for words in found))
        return AnyOf(steps)

    def _side_by_side(self, words: tuple[_Word, ...], *, ranks: bool, times: int = 1) -> Step:
        steps = tuple(self._terms(word, ranks=ranks, times=times) for word in words)
        return steps[0] if len(steps) == 1 else PhraseOf(steps)

    def _terms(self, word: _Word, *, ranks: bool, times: int = 1) -> Terms:
        entry, idf = self._entries[word.text], self._idfs[word.text]
        weight = times * max(1, round(idf * self.scale)) if ranks and self._ranks(word) else 0
        return Terms(word.text, entry.terms, entry.infos, word.mask, idf, weight)

    def _ranks(self, word: _Word) -> bool:
        """Return whether a word adds to the score."""
        if self._all_rank or word.ranks is not None:
            return self._all_rank or bool(word.ranks)
        return self._entries[word.text].is_telling and not (self._is_prose and word.is_character)

    def _tells(self, word: _Word) -> bool:
        """Return whether a word selects documents by itself; the digits of `2.1.6` do not."""
        if self._all_rank or word.ranks is None:
            return self._ranks(word)
        return word.ranks and not word.is_character and self._entries[word.text].is_telling

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


def _placed(terms: Terms, entry: Entry) -> Terms:
    """Return those of the terms of a word that have positions."""
    if entry.placed is None:
        return terms
    return msgspec.structs.replace(terms, terms=entry.placed.terms, infos=entry.placed.infos)


def _are_spellings(readings: Sequence[Sequence[_Word]]) -> bool:
    """Return whether readings are spellings of the same (`c++`, `cpp`): they have equally many words."""
    return len({len(words) for words in readings}) == 1


def _all_words(leaves: Iterable[_Readings]) -> Iterator[_Word]:
    return (word for readings in leaves for words in readings for word in words)


# The words of a reading: each with its entry, or None where the lexicon has to look it up, and whether it
# ranks (`_Word.ranks`).
_LeafWords = list[tuple[str, "Entry | None", "bool | None"]]


def _words_in(leaf: tree.Word, _lexicon: Lexicon) -> Iterator[_LeafWords]:
    for words in readings_of(leaf.text):
        yield [(word, None, _ranks_in(leaf.text, words, word)) for word in words]


def _ranks_in(text: str, words: tuple[str, ...], word: str) -> bool | None:
    """Return whether a word ranks in a text that was typed without a space."""
    if len(words) == 1:
        return None
    if any(apostrophe in text for apostrophe in _APOSTROPHES):
        return False if len(word) == 1 and word.isascii() else None
    return True


def _word_in_quotes(leaf: tree.Exact, lexicon: Lexicon) -> Iterator[_LeafWords]:
    (word,) = tokens(leaf.text)
    yield [(f'"{word}"', lexicon.exact_entry(word), None)]


def _words_in_phrase(leaf: tree.Phrase, _lexicon: Lexicon) -> Iterator[_LeafWords]:
    yield [(word, None, None) for word in tokens(" ".join(leaf.words))]


def _words_in_path(leaf: Site, _lexicon: Lexicon) -> Iterator[_LeafWords]:
    if leaf.path:
        yield [(word, None, None) for word in tokens(f"{leaf.host}/{leaf.path}")]


def _words_with_prefix(leaf: tree.Prefix, lexicon: Lexicon) -> Iterator[_LeafWords]:
    from crawlctl.pipeline.search.plan.expansions import prefix_entry

    yield [(f"{leaf.text}*", prefix_entry(leaf.text, lexicon), None)]


def _words_in_range(leaf: tree.Range, lexicon: Lexicon) -> Iterator[_LeafWords]:
    from crawlctl.pipeline.search.plan.expansions import range_entry

    yield [(f"{leaf.low}..{leaf.high}", range_entry(leaf.low, leaf.high, lexicon), None)]


# The readings of a leaf.
_WORDS: dict[type, Callable[[Any, Lexicon], Iterator[_LeafWords]]] = {
    tree.Word: _words_in,
    tree.Exact: _word_in_quotes,
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
