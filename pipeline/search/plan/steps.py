"""The steps of a plan: which posting lists to read, how to join them, and what each adds to a score.

A step says everything about itself that does not depend on how it is evaluated: its children, the lists it
reads, whether a segment can have a match, how many documents may match, and its label in an explanation. The
two evaluators (evaluate/plain_evaluator.py, evaluate/vector_evaluator.py) have one row per class of step in a
table. How to add an operator: search/__init__.py.

Inside plan and evaluate a score is a whole number, so that both evaluators give the same order. A BM25 score
of 1 is 255 × scale here; the scale is usually 1024, and `Plan.as_float` (query_plan.py) converts back. Every
part that a document matches adds at least 1, so a document matches exactly if its score is not 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.index.segment.term_info import TermInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SELECTS = "selects, does not rank"
ANY_FIELD = (1 << len(INDEXED_FIELDS)) - 1  # the mask with the bits of all fields


class ListRead(NamedTuple):
    """A posting list to be read, with its positions or without."""

    info: TermInfo
    positions: bool


class Step(msgspec.Struct, frozen=True, eq=False):
    """One step of a plan; a class per way to match documents."""

    @property
    def children(self) -> tuple[Step, ...]:
        """The steps inside this one."""
        return ()

    @property
    def label(self) -> str:
        """The name of the step in an explanation; if it is empty, only the children are explained."""
        return ""

    @property
    def reason(self) -> str:
        """Why the step adds to the score, for an explanation."""
        return ""

    def can_match(self, segment: int) -> bool:
        """Return whether a segment has the posting lists without which no document of it can match."""
        raise NotImplementedError

    def bound(self, documents_of: Callable[[Terms], int]) -> int:
        """Return how many documents can match at most; `documents_of` returns the number for a leaf."""
        raise NotImplementedError

    def lists(self, segment: int) -> Iterator[ListRead]:
        """Yield the posting lists to read in a segment; none if no document can match."""
        if self.can_match(segment):
            for child in self.children:
                yield from child.lists(segment)

    def leaves(self) -> Iterator[Terms]:
        """Yield all terms, including terms that documents must not have."""
        for child in self.children:
            yield from child.leaves()

    def leaves_with_positions(self) -> Iterator[Terms]:
        """Yield the terms of which positions are needed."""
        for child in self.children:
            yield from child.leaves_with_positions()

    @property
    def postings(self) -> int:
        """The number of postings, or of documents in ranges, that an evaluation may have to look at."""
        return sum(child.postings for child in self.children)


class Terms(Step, frozen=True, eq=False):
    """Documents with any of the terms in any of the fields; the greatest impact of these terms counts."""

    text: str
    terms: tuple[bytes, ...]
    infos: Mapping[int, tuple[TermInfo, ...]]  # by segment
    mask: int = ANY_FIELD  # bit 1 << number of the field
    idf: float = 0.0
    weight: int = 0  # what an impact of 1 adds to the score; with 0 the terms select and do not rank

    @property
    def count(self) -> int:
        """The number of postings of all terms."""
        return sum(info.count for infos in self.infos.values() for info in infos)

    @property
    def postings(self) -> int:
        """The number of postings of all terms."""
        return self.count

    @property
    def label(self) -> str:
        """The word as it was asked for."""
        return self.text

    def can_match(self, segment: int) -> bool:
        """Return whether the segment has one of the terms."""
        return segment in self.infos

    def bound(self, documents_of: Callable[[Terms], int]) -> int:
        """Return the number of documents with one of the terms."""
        return documents_of(self)

    def lists(self, segment: int) -> Iterator[ListRead]:
        """Yield the lists of all terms."""
        return (ListRead(info, False) for info in self.infos.get(segment, ()))

    def leaves(self) -> Iterator[Terms]:
        """Yield this step."""
        yield self


class Keywords(Terms, frozen=True, eq=False):
    """Documents with any of the keywords, such as a type: they select and do not rank."""

    @property
    def reason(self) -> str:
        """Why the documents were selected."""
        return SELECTS


class Defining(Keywords, frozen=True, eq=False):
    """Documents that define a name; all of them add the same to a score, however long they are."""

    @property
    def reason(self) -> str:
        """Why the documents were selected."""
        return "the page defines it"


class PhraseOf(Step, frozen=True, eq=False):
    """Documents that have the words side by side, in one of the fields of the words' mask."""

    words: tuple[Terms, ...]

    @property
    def children(self) -> tuple[Step, ...]:
        """The words."""
        return self.words

    @property
    def mask(self) -> int:
        """The fields in which the words may stand."""
        return self.words[0].mask

    @property
    def label(self) -> str:
        """The words in quotes."""
        return f'"{" ".join(word.text for word in self.words)}"'

    @property
    def reason(self) -> str:
        """Why the phrase adds to the score."""
        return "the words side by side"

    def can_match(self, segment: int) -> bool:
        """Return whether the segment has all words."""
        return all(word.can_match(segment) for word in self.words)

    def bound(self, documents_of: Callable[[Terms], int]) -> int:
        """Return the number of documents with the rarest word."""
        return min(map(documents_of, self.words))

    def lists(self, segment: int) -> Iterator[ListRead]:
        """Yield the lists of all words, with positions."""
        return (ListRead(info, True) for info, _ in super().lists(segment))

    def leaves_with_positions(self) -> Iterator[Terms]:
        """Yield the words."""
        yield from self.words


class Selection(Step, frozen=True, eq=False):
    """Documents that a filter selects without posting lists; it adds nothing to their scores."""

    text: str

    @property
    def label(self) -> str:
        """The filter as it was asked for."""
        return self.text

    @property
    def reason(self) -> str:
        """Why the documents were selected."""
        return SELECTS

    def bound(self, documents_of: Callable[[Terms], int]) -> int:
        """Return the number of documents that are looked at."""
        return self.postings


class DocumentRanges(Selection, frozen=True, eq=False):
    """Documents in ranges of doc ids, such as the documents of a host."""

    # by segment: [start, end) of ordinals, rising and without overlaps
    ranges: Mapping[int, tuple[tuple[int, int], ...]]

    def can_match(self, segment: int) -> bool:
        """Return whether the segment has such documents."""
        return segment in self.ranges

    @property
    def postings(self) -> int:
        """The number of documents in the ranges."""
        return sum(end - start for ranges in self.ranges.values() for start, end in ranges)


class ColumnRange(Selection, frozen=True, eq=False):
    """Documents whose number in a column is from `low` to `high`."""

    numbers: Mapping[int, Sequence[int]]  # the column, by segment and ordinal
    low: int
    high: int

    def can_match(self, segment: int) -> bool:
        """Return whether the column is known of the segment."""
        return segment in self.numbers

    @property
    def postings(self) -> int:
        """The number of documents that are looked at."""
        return sum(map(len, self.numbers.values()))


class AllOf(Step, frozen=True, eq=False):
    """Documents that match all of the parts, and none of the steps in `without`."""

    parts: tuple[Step, ...]
    without: tuple[Step, ...] = ()

    @property
    def children(self) -> tuple[Step, ...]:
        """The parts, then the steps that must not match."""
        return (*self.parts, *self.without)

    @property
    def postings(self) -> int:
        """The number of postings; filters beside other parts are asked only about documents of these."""
        parts = [part for part in self.parts if not isinstance(part, Selection)] or self.parts
        return sum(step.postings for step in (*parts, *self.without))

    def can_match(self, segment: int) -> bool:
        """Return whether all parts can match."""
        return all(part.can_match(segment) for part in self.parts)

    def bound(self, documents_of: Callable[[Terms], int]) -> int:
        """Return the least bound of the parts."""
        return min(part.bound(documents_of) for part in self.parts)


class AnyOf(Step, frozen=True, eq=False):
    """Documents that match at least one part."""

    parts: tuple[Step, ...]

    @property
    def children(self) -> tuple[Step, ...]:
        """The parts."""
        return self.parts

    def can_match(self, segment: int) -> bool:
        """Return whether a part can match."""
        return any(part.can_match(segment) for part in self.parts)

    def bound(self, documents_of: Callable[[Terms], int]) -> int:
        """Return the sum of the bounds of the parts."""
        return sum(part.bound(documents_of) for part in self.parts)


class MostOf(Step, frozen=True, eq=False):
    """Documents that match all parts, or all but one; it only selects (Lucene: minimum should match)."""

    parts: tuple[Terms, ...]

    @property
    def children(self) -> tuple[Step, ...]:
        """The parts."""
        return self.parts

    @property
    def least(self) -> int:
        """The number of parts that a document has to match."""
        return len(self.parts) - 1

    @property
    def label(self) -> str:
        """The words."""
        return f"most of: {' '.join(part.text for part in self.parts)}"

    @property
    def reason(self) -> str:
        """Why the documents were selected."""
        return f"{SELECTS}; titles and headings have all words but one"

    def can_match(self, segment: int) -> bool:
        """Return whether enough parts can match."""
        return sum(part.can_match(segment) for part in self.parts) >= self.least

    def bound(self, documents_of: Callable[[Terms], int]) -> int:
        """Return how many documents can have enough of the parts."""
        return sum(map(documents_of, self.parts)) // self.least


class BestOf(AnyOf, frozen=True, eq=False):
    """Documents that match at least one part; the part with the greatest score counts (Lucene: DisMax).

    The first part is the step of the words as typed, the others are other spellings or synonyms of them.
    """

    text: str = ""

    @property
    def label(self) -> str:
        """The words as typed, and other spellings or synonyms of them."""
        return self.text

    @property
    def reason(self) -> str:
        """Why the best part adds to the score."""
        return "the best of the words as typed and what stands for them"

    def leaves(self) -> Iterator[Terms]:
        """Yield the terms that a document has; an unknown word with a known synonym is no slip."""
        found = list(super().leaves())
        yield from [terms for terms in found if terms.count] or found
