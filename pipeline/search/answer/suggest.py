"""Did you mean: for a word that no page has, the nearest one that some have.

Candidates are terms of the dictionary with the same first letters, or with one of the slips of a hand among
those. They are stems, so the nearest few are looked up in a page each for a word as people write it. Nearest
is what takes the fewest letters added, dropped, changed or swapped with the next (the edit distance of
nltk, which is imported here and nowhere else), and among equals what most pages have. To import nltk takes a
quarter of a second; a query without such a word does not wait for it, and one in an installation without it
goes without a suggestion.
"""

from __future__ import annotations

from collections import Counter
from heapq import nlargest, nsmallest
from importlib.util import find_spec
from itertools import islice
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.index.segment.postings.plain_lists import decode_documents
from crawlctl.pipeline.search.evaluate.list_reads import Want
from crawlctl.pipeline.text.words.stems import term_of
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.index.segment.term_info import TermPlace
    from crawlctl.pipeline.search.open.searcher import Searcher

_SHORTEST = 4  # letters; of shorter words nearly every other is near
_MAX_TERMS = 20_000  # that are looked at for each beginning
_MAX_COMPARED = 200
_MAX_READ = 4  # pages in which a word is looked up
_MAX_WORDS = 50_000  # of a page
_LONGEST_ENDING = 5  # letters that a stemmer takes off


class Candidate(NamedTuple):
    """A term like the word that was asked for, and where its pages are."""

    term: str
    pages: int
    places: list[TermPlace]


def suggestion(index: Searcher, word: str) -> str | None:
    """Return the word that was probably meant, None where none is near."""
    if len(word) < _SHORTEST or not word.isalpha() or find_spec("nltk") is None:
        return None
    slips = dict.fromkeys((word[:2], word[1] + word[0], word[0] + word[2]))
    return _nearest(index, word, slips) or _nearest(index, word, (word[0],))


def _nearest(index: Searcher, word: str, beginnings: Iterable[str]) -> str | None:
    """Return the nearest word that begins in one of some ways."""
    likely = nlargest(_MAX_COMPARED, _candidates(index, word, beginnings), key=attrgetter("pages"))
    near = [
        (steps, -candidate.pages, candidate)
        for candidate in likely
        for steps in [_nearest_steps(word, candidate.term)]
        if steps <= _most_steps(word)
    ]
    written = {
        better: (_steps(word, better), order)
        for _, order, candidate in nsmallest(_MAX_READ, near, key=itemgetter(0, 1))
        for better in [_as_written(index, candidate)]
        if better is not None
    }
    best = min(written, key=written.__getitem__, default=None)
    return best if best is not None and written[best][0] <= _most_steps(word) else None


def _most_steps(word: str) -> int:
    return 1 if len(word) < 6 else 2


def _candidates(index: Searcher, word: str, beginnings: Iterable[str]) -> Iterator[Candidate]:
    """Yield the terms with nearly the same letters."""
    letters = Counter(word)
    seen: set[bytes] = set()
    for beginning in beginnings:
        start = beginning.encode()
        stop = start[:-1] + bytes((start[-1] + 1,))
        for term, places in islice(index.terms_from(start, stop), _MAX_TERMS):
            text = term.decode("utf-8", "replace")
            if term not in seen and _is_alike(text, word, letters):
                seen.add(term)
                yield Candidate(text, sum(place.count for place in places), places)


def _is_alike(term: str, word: str, letters: Counter[str]) -> bool:
    """Tell cheaply whether a term can be near: it has most letters of the word and few others."""
    shorter = len(word) - len(term)
    if not -2 <= shorter <= _LONGEST_ENDING:
        return False
    extra = sum((Counter(term) - letters).values())
    return extra <= _most_steps(word)


def _nearest_steps(word: str, stem: str) -> int:
    """Return the edit distance of a stem from the word, or from what a stemmer might leave of the word."""
    ends = range(max(len(stem), len(word) - _LONGEST_ENDING), len(word) + 1)
    return min((_steps(word[:end], stem) for end in ends), default=_steps(word, stem))


def _steps(word: str, other: str) -> int:
    from nltk.metrics.distance import edit_distance

    return int(edit_distance(word, other, transpositions=True))


def _as_written(index: Searcher, candidate: Candidate) -> str | None:
    """Return the word that a page has most often among those with this term."""
    place = next((one for one in candidate.places if not index.segments[one.segment].frontier), None)
    if place is None:
        return candidate.term
    part, _ = index.lists.read([Want(place, positions=False)])[place]
    with index.lists.damage(place):
        ordinal = decode_documents(part, place.count, index.segments[place.segment].documents).ordinals[0]
    (record,) = index.records([index.bases[place.segment] + ordinal])
    text = " ".join((record.title, *record.headings, record.text))
    words = Counter(islice(tokens(text), _MAX_WORDS))
    term = candidate.term.encode()
    forms = {word: count for word, count in words.items() if term_of(word, record.language) == term}
    return max(forms, key=lambda word: forms[word], default=None)
