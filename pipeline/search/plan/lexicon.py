"""Finds the terms of the index for the words of a query, and where their posting lists lie.

A document is indexed by the stems of its own language, which a query does not name. So a word stands for its
stems in every language that a fair share of the documents is in, and for itself, because documents of an
unknown language are indexed by their words as they are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.index.segment.term_info import TermInfo
from crawlctl.pipeline.text.words.stems import stemmed_languages, term_of
from crawlctl.pipeline.text.words.stopwords import stop_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.index.segment.dictionary import Dictionary
    from crawlctl.pipeline.store.parallel_reads import ParallelReads

LEAST_SHARE = 0.01  # of all documents; a language with fewer is mostly a wrong guess
STOP_SHARE = 0.5  # a word is a stop word if it is one in the languages of this share of the documents

_REMEMBERED = 1 << 15  # words

# Single letters and digits are mostly initials and numbers of figures, but these are programming languages.
_ONE_LETTER_NAMES = frozenset("cr")


class Entry(msgspec.Struct, frozen=True):
    """Terms that count as one word of a query, and where their posting lists lie."""

    terms: tuple[bytes, ...]
    infos: Mapping[int, tuple[TermInfo, ...]]  # by segment
    postings: int  # in all of these lists
    is_telling: bool  # says what a document is about; False for a stop word


class WordTerms:
    """The terms of words in an index whose documents are in these languages (number of documents by code)."""

    def __init__(self, languages: Mapping[str, int]) -> None:
        documents = sum(languages.values())
        known = {code: count for code, count in languages.items() if code}
        least = LEAST_SHARE * documents
        self.stemmed = tuple(
            sorted(code for code in known.keys() & stemmed_languages() if known[code] >= least)
        )
        self._known = {code: count for code, count in known.items() if count >= least}
        self._enough = STOP_SHARE * sum(self._known.values())

    def terms(self, word: str) -> tuple[bytes, ...]:
        """Return the terms of a word as `tokens` yields it, the word itself first."""
        found = dict.fromkeys(term_of(word, language) for language in ("", *self.stemmed))
        return tuple(found)

    def is_telling(self, word: str) -> bool:
        """Return whether a word says what a document is about: no stop word and no single character."""
        if len(word) == 1 and word.isascii() and word not in _ONE_LETTER_NAMES:
            return False
        listed = sum(count for language, count in self._known.items() if word in stop_words(language))
        return not listed or listed < self._enough


class Lexicon:
    """The dictionary of an open index, as queries ask it.

    It remembers the words it has looked up as long as the index is open, because looking one up inflates a
    block of the dictionary and, from a remote store, takes a request.
    """

    def __init__(self, dictionary: Dictionary, words: WordTerms, parallel: ParallelReads) -> None:
        self.words = words
        self._dictionary = dictionary
        self._parallel = parallel
        self._known: OrderedDict[str, Entry] = OrderedDict()

    def entries(self, words: Iterable[str]) -> dict[str, Entry]:
        """Return the entries of words; words that are not remembered are looked up together."""
        found: dict[str, Entry] = {}
        unknown: dict[str, tuple[bytes, ...]] = {}
        for word in words:
            entry = self._known.get(word)
            if entry is None:
                unknown[word] = self.words.terms(word)
            else:
                found[word] = entry
        if unknown:
            infos = self.find(term for terms in unknown.values() for term in terms)
            for word, terms in unknown.items():
                found[word] = entry_of({term: infos[term] for term in terms}, self.words.is_telling(word))
                self._remember(word, found[word])
        return found

    def find(self, terms: Iterable[bytes]) -> dict[bytes, list[TermInfo]]:
        """Return the term infos of each term."""
        wanted = list(dict.fromkeys(terms))
        return dict(zip(wanted, self._parallel.map(self._dictionary.find, wanted), strict=True))

    def range(self, start: bytes, stop: bytes | None) -> Iterator[tuple[bytes, list[TermInfo]]]:
        """Yield the terms from `start` up to and without `stop`, with their term infos."""
        return self._dictionary.range(start, stop)

    def beginning_with(self, prefix: bytes) -> Iterator[tuple[bytes, list[TermInfo]]]:
        """Yield the terms that begin with a prefix, with their term infos."""
        return self.range(prefix, prefix_end(prefix))

    def _remember(self, word: str, entry: Entry) -> None:
        self._known[word] = entry
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


def entry_of(found: Mapping[bytes, list[TermInfo]], is_telling: bool = True) -> Entry:
    """Return the entry of terms that count as one word."""
    by_segment: dict[int, tuple[TermInfo, ...]] = {}
    for infos in found.values():
        for info in infos:
            by_segment[info.segment] = (*by_segment.get(info.segment, ()), info)
    postings = sum(info.count for infos in found.values() for info in infos)
    return Entry(tuple(found), by_segment, postings, is_telling)


def prefix_end(prefix: bytes) -> bytes:
    """Return the least bytes above everything that begins with a prefix in UTF-8, which has no byte 255."""
    return prefix[:-1] + bytes((prefix[-1] + 1,))
