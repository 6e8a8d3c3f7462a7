"""Finds the terms of the index for the words of a query, and where their posting lists lie.

A document is indexed by the stems of its own language, which a query does not name. So a word stands for its
stem in every language of the index; the stem carries a mark of the language (text/words/stems.py), and so is
found only in documents of that language. Documents of an unknown language are indexed by their words as they
are. There the word stands for itself and for its stem in the main language of the index, which they are most
likely in: `circuits` finds `circuit` in them.

A prefix and a word in quotes ask for words as they are written, which are terms of their own beside the stems
(forms). Segments of older versions have none: there a word in quotes stands for its stem.

Segments of still older versions have stems without marks. There a word stands, as it did before, for its
stems in every language that a fair share of the documents is in, whatever the language of the document.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.index.keywords import name_keyword
from crawlctl.pipeline.index.segment.dictionary import joined
from crawlctl.pipeline.index.segment.term_info import TermInfo
from crawlctl.pipeline.text.words.stems import bare_term, form_of, stem_in, stemmed_languages, term_of
from crawlctl.pipeline.text.words.stopwords import stop_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.index.segment.dictionary import AskedLayer, Dictionary
    from crawlctl.pipeline.store.parallel_reads import ParallelReads

# a language with a smaller share of all documents is ignored for stop words and terms without marks
LEAST_SHARE = 0.01
STOP_SHARE = 0.5  # a word is a stop word if it is one in the languages of this share of the documents

OLDER_PAGES = (
    "some pages were indexed by an older version, which knows no words as they are written: "
    "there the stems of words were searched, until the pages are visited again"
)

_NAMED = "\x01"  # marks the key of a name among the remembered words
_REMEMBERED = 1 << 15  # words
_SIGNS = "+#."  # the signs in `c++` and the like; older segments have these words without the signs


class Entry(msgspec.Struct, frozen=True):
    """Terms that count as one word of a query, and where their posting lists lie."""

    terms: tuple[bytes, ...]
    infos: Mapping[int, tuple[TermInfo, ...]]  # by segment
    postings: int  # in all of these lists
    is_telling: bool  # says what a document is about; False for a stop word
    notice: str = ""  # what a user should know about these terms
    placed: Entry | None = None  # those of its terms that have positions; None: all of them


class WordTerms:
    """The terms of words in an index whose documents are in these languages (number of documents by code)."""

    def __init__(self, languages: Mapping[str, int]) -> None:
        documents = sum(languages.values())
        known = {code: count for code, count in languages.items() if code}
        least = LEAST_SHARE * documents
        self.stemmed = tuple(sorted(known.keys() & stemmed_languages()))
        self._main = main_language(languages)
        self._known = {code: count for code, count in known.items() if count >= least}
        self._enough = STOP_SHARE * sum(self._known.values())

    def terms(self, word: str) -> tuple[bytes, ...]:
        """Return the terms of a word as `tokens` yields it, the word itself first."""
        marked = (term_of(word, language) for language in self.stemmed)
        return tuple(dict.fromkeys((word.encode(), bare_term(word, self._main), *marked)))

    def terms_without_marks(self, word: str) -> tuple[bytes, ...]:
        """Return the terms of a word in segments of older versions, the word itself first."""
        often = (language for language in self.stemmed if language in self._known)
        word = word.strip(_SIGNS)
        return tuple(dict.fromkeys(bare_term(word, language) for language in ("", *often)))

    def forms(self, word: str) -> tuple[bytes, ...]:
        """Return the terms of a word as it is written, in each language."""
        marked = (form_of(word, language) for language in self.stemmed)
        return tuple(dict.fromkeys((word.encode(), *marked)))

    def is_telling(self, word: str) -> bool:
        """Return whether a word says what a document is about: no stop word."""
        listed = sum(count for language, count in self._known.items() if word in stop_words(language))
        return not listed or listed < self._enough


def main_language(languages: Mapping[str, int]) -> str:
    """Return the language of more than half of the documents whose language is known, "" without one."""
    known = {code: count for code, count in languages.items() if code}
    most = max(known, key=known.__getitem__, default="")
    return most if 2 * known.get(most, 0) > sum(known.values()) else ""


class Lexicon:
    """The dictionary of an open index, as queries ask it.

    It remembers the words that it has looked up as long as the index is open, because to look up a word means
    to inflate a block of the dictionary and, from a remote store, to make a request.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        words: WordTerms,
        parallel: ParallelReads,
        without_marks: frozenset[int] = frozenset(),
        without_forms: frozenset[int] = frozenset(),
    ) -> None:
        self.without_forms = without_forms  # the segments in which words as they are written are no terms
        self.words = words
        self._dictionary = dictionary
        self._parallel = parallel
        self._without_marks = without_marks  # the segments of older versions
        self._known: OrderedDict[str, Entry] = OrderedDict()
        self._exact: OrderedDict[str, Entry] = OrderedDict()  # entries of words as they are written

    def entries(self, words: Iterable[str]) -> dict[str, Entry]:
        """Return the entries of words; words that are not remembered are looked up together."""
        found: dict[str, Entry] = {}
        unknown: list[str] = []
        for word in words:
            entry = self._known.get(word)
            if entry is None:
                unknown.append(word)
            else:
                found[word] = entry
        if unknown:
            infos = self.find(term for word in unknown for term in self._looked_up(word))
            for word in unknown:
                found[word] = entry_of(self._counting(word, infos), self.words.is_telling(word))
                _remember(self._known, word, found[word])
        return found

    def _looked_up(self, word: str) -> Iterator[bytes]:
        yield from self.words.terms(word)
        if self._without_marks:
            yield from self.words.terms_without_marks(word)

    def _counting(self, word: str, found: Mapping[bytes, list[TermInfo]]) -> dict[bytes, list[TermInfo]]:
        """Return the term infos that count for a word: for each segment, those of the terms that it has."""
        older = self._without_marks
        if not older:
            return {term: found[term] for term in self.words.terms(word)}
        counting: dict[bytes, list[TermInfo]] = {}
        for term in self.words.terms(word):
            counting[term] = [info for info in found[term] if info.segment not in older]
        for term in self.words.terms_without_marks(word):
            counting.setdefault(term, []).extend(info for info in found[term] if info.segment in older)
        return counting

    def exact_entry(self, word: str) -> Entry:
        """Return the entry of a word as it is written; in older segments it stands for its stems.

        Words as they are written have no positions (index/fields.py), so its stems tell where it may stand.
        """
        found = self._exact.get(word)
        if found is None:
            found = self._exact_entry(word)
            _remember(self._exact, word, found)
        return found

    def _exact_entry(self, word: str) -> Entry:
        older, forms = self.without_forms, self.words.forms(word)
        found = self.find((*forms, *self._looked_up(word)))
        stems = self._counting(word, found)
        exact = {term: [info for info in found[term] if info.segment not in older] for term in forms}
        for term, infos in stems.items() if older else ():
            exact.setdefault(term, []).extend(info for info in infos if info.segment in older)
        entry = entry_of(exact, self.words.is_telling(word))
        return msgspec.structs.replace(entry, notice=OLDER_PAGES if older else "", placed=entry_of(stems))

    def look_up(self, words: Iterable[str], keys: Iterable[str]) -> None:
        """Look up words and the keys of names in a remote store together, in one trip."""
        if not self._parallel:
            return
        unknown = [word for word in words if word not in self._known]
        names = {key: name_keyword(key) for key in keys if _NAMED + key not in self._known}
        infos = self.find((*(term for word in unknown for term in self._looked_up(word)), *names.values()))
        for word in unknown:
            _remember(self._known, word, entry_of(self._counting(word, infos), self.words.is_telling(word)))
        for key, term in names.items():
            _remember(self._known, _NAMED + key, entry_of({term: infos[term]}))

    def name_entries(self, keys: Iterable[str]) -> dict[str, Entry]:
        """Return, by the key of a name, the entry of the pages that define it; other names are left out."""
        terms = {key: name_keyword(key) for key in keys}
        unknown = [key for key in terms if _NAMED + key not in self._known]
        infos = self.find(terms[key] for key in unknown)
        for key in unknown:
            _remember(self._known, _NAMED + key, entry_of({terms[key]: infos[terms[key]]}))
        found = {key: self._known[_NAMED + key] for key in terms}
        return {key: entry for key, entry in found.items() if entry.postings}

    def find(self, terms: Iterable[bytes]) -> dict[bytes, list[TermInfo]]:
        """Return the term infos of each term; the terms of one stem lie together and are read together."""
        stems: dict[bytes, dict[bytes, None]] = {}
        for term in terms:
            stems.setdefault(stem_in(term), {})[term] = None
        found = self._parallel.map(_find_all, product(self._dictionary.layers, stems.values()))
        infos: dict[bytes, list[list[TermInfo]]] = {term: [] for some in stems.values() for term in some}
        for some in found:
            for term, in_layer in some.items():
                infos[term].append(in_layer)
        return {term: joined(of_layers) for term, of_layers in infos.items()}

    def range(self, start: bytes, stop: bytes | None) -> Iterator[tuple[bytes, list[TermInfo]]]:
        """Yield the terms from `start` up to and without `stop`, with their term infos."""
        if self._parallel:  # reads the first blocks of all layers in parallel; they are kept
            self._parallel.map(lambda layer: next(layer.range(start, stop), None), self._dictionary.layers)
        return self._dictionary.range(start, stop)

    def beginning_with(self, prefix: bytes) -> Iterator[tuple[bytes, list[TermInfo]]]:
        """Yield the terms that begin with a prefix, with their term infos."""
        return self.range(prefix, prefix_end(prefix))


def _find_all(asked: tuple[AskedLayer, Iterable[bytes]]) -> dict[bytes, list[TermInfo]]:
    layer, terms = asked
    return layer.find_near(tuple(terms))


def _remember(entries: OrderedDict[str, Entry], word: str, entry: Entry) -> None:
    entries[word] = entry
    if len(entries) > _REMEMBERED:
        entries.popitem(last=False)


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
