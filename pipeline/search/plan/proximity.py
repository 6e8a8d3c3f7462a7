"""Proximity: the score that a document gets in addition if words of the query stand side by side in it.

BM25F counts how often words occur, and one sum over all fields saturates: a page that has `window` and
`functions` many times, far apart, is as good as the page that is called "Window Functions". So the best
documents by BM25F are scored again (Lucene: QueryRescorer) with what their positions say:

    pairs     two words that follow one another in the query stand at the same distance in a field
    whole     all words stand so in the title or in a heading
    anchors   a word stands in the text of links to the page: the pages with these links call it so
    quality   what the page is worth whatever is asked (index/static_quality.py)

Stop words keep their place in the query, so `reverse a list` finds "reverse the list" side by side. All parts
add to the score and take nothing from it, so the documents that are scored again stay before the others. The
parts are whole numbers (plan/steps.py): a share of 255 times the weight of the words they are about.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.search.plan.steps import ListRead, Step, Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RESCORED = 200  # documents; with 100, MRR of section titles is .04 lower and the time nearly the same
# how many words at the beginning of a query make pairs; in a long query pairs add little
MAX_WORDS = 16

# Shares of 255, chosen on the first half of bench/docweb_queries.tsv and on other queries of its kinds. With
# more for bodies, the long queries of the collection npl find less.
_PAIRS = {"body": 32, "heading": 255, "title": 64, "url": 0, "anchor": 128}
PAIR_WEIGHTS = tuple(_PAIRS[field] for field in INDEXED_FIELDS)  # the index is the number of the field
WHOLE_HEADING = 77
# for a title that has no other words than the query; a longer title gets the share of its words that are in
# the query
WHOLE_TITLE = 128
ANCHOR_WEIGHT = 128
QUALITY_WEIGHT = 3.0  # the most that the quality of a page adds to a score

HEADING, TITLE, ANCHOR = map(INDEXED_FIELDS.index, ("heading", "title", "anchor"))


class Proximity(Step, frozen=True, eq=False):
    """The words of a query that rank, in their order, and the distances at which they were typed.

    A prefix stands for words as they are written. These have no positions, but a number that tells their
    fields (index/fields.py). So `placed` leaves them out, and the masks of their lists say in which fields
    they stand. For a query of a single word the fields are enough, and no position is read.
    """

    words: tuple[Terms, ...]
    placed: tuple[Terms, ...]  # of each word, the terms that have positions; empty for a single word
    offsets: tuple[int, ...]  # of each word in the query, in words, stop words included
    length: int  # of the query, in words
    quality_weight: int = 0  # what a quality of 1/255 adds to the score

    @property
    def children(self) -> tuple[Step, ...]:
        """The words."""
        return self.words

    @property
    def distances(self) -> tuple[int, ...]:
        """The distance of each word but the first to the word before it."""
        return tuple(here - before for before, here in pairwise(self.offsets))

    @property
    def pair_weights(self) -> tuple[int, ...]:
        """The weight of each pair of words that follow one another: the mean of both."""
        weights = [word.weight for word in self.words]
        return tuple((before + here) // 2 for before, here in pairwise(weights))

    @property
    def whole_weight(self) -> int:
        """The weight of all words together."""
        return sum(word.weight for word in self.words)

    def title_score(self, title_length: int) -> int:
        """Return the addition to the score if the title, of `title_length` words, has the whole query."""
        return WHOLE_TITLE * self.whole_weight * min(self.length, title_length) // max(1, title_length)

    def can_match(self, segment: int) -> bool:
        """Return whether the segment has one of the words."""
        return any(word.can_match(segment) for word in self.words)

    def bound(self, documents_of: Callable[[Terms], int]) -> int:
        """Return how many documents may have one of the words."""
        return sum(map(documents_of, self.words))

    def lists(self, segment: int) -> Iterator[ListRead]:
        """Yield the lists of all words, with their positions if they have any."""
        yield from super().lists(segment)
        if self.can_match(segment):
            yield from (ListRead(info, True) for word in self.placed for info in word.infos.get(segment, ()))

    def leaves_with_positions(self) -> Iterator[Terms]:
        """Yield the terms that have positions."""
        yield from self.placed
