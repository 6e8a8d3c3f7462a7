"""Suggests a better spelling ("did you mean") for a word that no page has.

Candidates are terms of the dictionary with the same first letters, or with a common typing error in these
letters. Terms are stems, so for the nearest few a page is read to find the word as people write it. The
nearest word needs the fewest letters added, dropped, changed or swapped with the next (the edit distance of
nltk, which is imported only here); of equally near words, the one on most pages wins. To import nltk takes a
quarter of a second, which only a query with an unknown word has to wait for. Without nltk installed there are
no suggestions.
"""

from __future__ import annotations

from collections import Counter
from heapq import nlargest, nsmallest
from importlib.util import find_spec
from itertools import groupby, islice
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.index.segment.postings.plain_lists import decode_documents
from crawlctl.pipeline.search.plan.steps import ListRead
from crawlctl.pipeline.text.words.stems import bare_term, stem_in
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.search.open.searcher import Searcher

_MIN_LETTERS = 4  # to a shorter word nearly every other short word is near
_MAX_TERMS = 20_000  # looked at per prefix
_MAX_COMPARED = 200  # terms whose edit distance is computed
_MAX_READ = 4  # pages that are read
_MAX_WORDS = 50_000  # looked at per page
_LONGEST_ENDING = 5  # letters that a stemmer takes off


class Candidate(NamedTuple):
    """A stem that is similar to the word of the query."""

    term: str
    pages: int  # that have the stem, in any language
    infos: list[TermInfo]


def suggestion(searcher: Searcher, word: str) -> str | None:
    """Return the word that the user probably meant, None if no word is near."""
    if len(word) < _MIN_LETTERS or not word.isalpha() or find_spec("nltk") is None:
        return None
    prefixes = dict.fromkeys((word[:2], word[1] + word[0], word[0] + word[2]))
    return _nearest(searcher, word, prefixes) or _nearest(searcher, word, (word[0],))


def _nearest(searcher: Searcher, word: str, prefixes: Iterable[str]) -> str | None:
    """Return the nearest word that begins with one of some prefixes."""
    likely = nlargest(_MAX_COMPARED, _candidates(searcher, word, prefixes), key=attrgetter("pages"))
    near = [
        (steps, -candidate.pages, candidate)
        for candidate in likely
        for steps in [_nearest_steps(word, candidate.term)]
        if steps <= _most_steps(word)
    ]
    written = {
        better: (_steps(word, better), order)
        for _, order, candidate in nsmallest(_MAX_READ, near, key=itemgetter(0, 1))
        for better in [_as_written(searcher, candidate, word)]
        if better is not None
    }
    best = min(written, key=written.__getitem__, default=None)
    return best if best is not None and written[best][0] <= _most_steps(word) else None


def _most_steps(word: str) -> int:
    return 1 if len(word) < 6 else 2


def _candidates(searcher: Searcher, word: str, prefixes: Iterable[str]) -> Iterator[Candidate]:
    """Yield the terms that begin with one of the prefixes and have nearly the same letters as the word."""
    letters = Counter(word)
    seen: set[bytes] = set()
    for prefix in prefixes:
        rows = islice(searcher.lexicon.beginning_with(prefix.encode()), _MAX_TERMS)
        for stem, same in groupby(rows, lambda row: stem_in(row[0])):
            text = stem.decode("utf-8", "replace")
            if stem not in seen and _has_similar_letters(text, word, letters):
                seen.add(stem)
                infos = [info for _, found in same for info in found]
                yield Candidate(text, sum(info.count for info in infos), infos)


def _has_similar_letters(term: str, word: str, letters: Counter[str]) -> bool:
    """Return, at little cost, whether a term can be near: it has few letters that the word does not have."""
    shorter = len(word) - len(term)
    if not -2 <= shorter <= _LONGEST_ENDING:
        return False
    extra = sum((Counter(term) - letters).values())
    return extra <= _most_steps(word)


def _nearest_steps(word: str, stem: str) -> int:
    """Return the edit distance of a stem from the word or, if less, from a possible stem of the word."""
    ends = range(max(len(stem), len(word) - _LONGEST_ENDING), len(word) + 1)
    return min((_steps(word[:end], stem) for end in ends), default=_steps(word, stem))


def _steps(word: str, other: str) -> int:
    from nltk.metrics.distance import edit_distance

    return int(edit_distance(word, other, transpositions=True))


def _as_written(searcher: Searcher, candidate: Candidate, wrong: str) -> str | None:
    """Return the word with this term that is nearest to a wrong one, on the first page that has the term.

    Of equally near words it is the most frequent. None: the page has no such word.
    """
    reader = searcher.reader
    info = next((info for info in candidate.infos if not reader.segments[info.segment].frontier), None)
    if info is None:
        return candidate.term
    packed, _ = reader.lists.read([ListRead(info, positions=False)])[info]
    with reader.lists.naming_damage(info):
        limit = reader.segments[info.segment].documents
        ordinal = decode_documents(packed, info.count, limit).ordinals[0]
    (record,) = searcher.records([reader.bases[info.segment] + ordinal])
    text = " ".join((record.title, *record.headings, record.text))
    words = Counter(islice(tokens(text), _MAX_WORDS))
    term = candidate.term.encode()
    forms = {word: count for word, count in words.items() if bare_term(word, record.language) == term}
    return min(forms, key=lambda word: (_steps(wrong, word), -forms[word]), default=None)
