"""Suggests a better spelling ("did you mean") for words that no page has, or hardly any.

The words to choose from are those of the word table (index/words/word_table.py): words as people write them,
without those that hardly any page has. The best correction is a word that many pages have and from which a
likely slip leads to the wrong word (slips.py). If no word is one slip away, a word may be two slips away (by
the edit distance of nltk, which is imported only then: it takes a quarter of a second), or the wrong word two
words without a space between.
"""

from __future__ import annotations

import re
from math import log
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.words.word_table import LONGEST, deletions
from crawlctl.pipeline.search.suggestions.slips import slip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.search.open.searcher import Searcher

_MIN_LETTERS = 4  # shorter words are not corrected: nearly every short word is one slip away from them
_TWO_SLIPS = 6  # the fewest letters of a word that may have two slips
_MOST_SLIPS = 2
_MIN_HALF = 3  # the fewest letters of each word, where a word is split into two
_MIN_PAGES_OF_HALF = 3
_TIMES_MORE = 50  # a better spelling must be on this many times the pages of the word as typed
_MANY_PAGES = 0.6  # the weight of the logarithm of the number of pages


def suggestion(searcher: Searcher, word: str, *, rare: bool = False) -> str | None:
    """Return the word, or the two words, that the user probably meant; None if nothing is near or better.

    `rare` is true if some page has the word as it was typed.
    """
    if not _MIN_LETTERS <= len(word) <= LONGEST or not word.isalpha():
        return None
    known = max(searcher.words.documents(word), int(rare))  # the table leaves out the rarest words
    least = max(1, _TIMES_MORE * known)
    return _nearest(searcher, word, least) or _two_words(searcher, word, least)


def suggestions(searcher: Searcher, unknown: Iterable[str], rare: Iterable[str] = ()) -> dict[str, str]:
    """Return the better spellings of words that no page has, and of rare words, for those that have one."""
    found = [(word, suggestion(searcher, word)) for word in unknown]
    found += [(word, suggestion(searcher, word, rare=True)) for word in rare]
    return {word: better for word, better in found if better is not None}


def respelt(searcher: Searcher, text: str, unknown: Iterable[str], rare: Iterable[str] = ()) -> str:
    """Return a query with better spellings of its unknown and rare words, empty if there is none.

    The rest of the query stays as it was typed.
    """
    better = suggestions(searcher, unknown, rare)
    if not better:
        return ""
    wrong = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, better))})(?!\w)", re.IGNORECASE)
    changed = wrong.sub(lambda match: better.get(match[0].lower(), match[0]), text)
    return changed if changed != text else ""


def _nearest(searcher: Searcher, word: str, least: int) -> str | None:
    """Return the best word on at least `least` pages that is one slip away or, if none is, two slips away."""
    shorter = list(deletions(word))
    near = searcher.words.sharing([word, *shorter])
    scores = {
        other: _MANY_PAGES * log(pages) + likely
        for other, pages in near
        if pages >= least and other != word
        for likely in [slip(word, other)]
        if likely is not None
    }
    if not scores and len(word) >= _TWO_SLIPS:
        scores = _two_slips_away(searcher, word, least)
    return max(scores, key=lambda other: (scores[other], other), default=None)


def _two_slips_away(searcher: Searcher, word: str, least: int) -> dict[str, float]:
    """Return words that are two slips away, with their scores; two changed letters are too many."""
    once = {*deletions(word), *_swapped(word)}
    texts = {word, *once, *(twice for text in once for twice in deletions(text))}
    near = {
        other: pages
        for other, pages in searcher.words.sharing(texts)
        if pages >= least and other != word and len(other) >= _MIN_LETTERS
    }
    if not near:
        return {}
    from nltk.metrics.distance import edit_distance

    return {
        other: _MANY_PAGES * log(pages) - (other[0] != word[0])
        for other, pages in near.items()
        # drops words that were found only because hashes are equal
        if edit_distance(word, other, transpositions=True) <= _MOST_SLIPS
    }


def _swapped(word: str) -> Iterator[str]:
    """Yield the word with two neighbouring letters swapped, for each pair of neighbours."""
    for at in range(len(word) - 1):
        yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _two_words(searcher: Searcher, word: str, least: int) -> str | None:
    """Return two words that make this one when the space between them is left out."""
    pages = searcher.words.documents
    halves = [(word[:at], word[at:]) for at in range(_MIN_HALF, len(word) - _MIN_HALF + 1)]
    common = [(min(map(pages, pair)), pair) for pair in halves]
    best, pair = max(common, default=(0, ("", "")))
    return " ".join(pair) if best >= max(least, _MIN_PAGES_OF_HALF) else None
