"""The interface of an evaluator: what it takes and returns. Both evaluators give the same answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.search.plan.proximity import Proximity
    from crawlctl.pipeline.search.plan.steps import Step
    from crawlctl.pipeline.search.rules.search_rules import Boosts


class Ranked(NamedTuple):
    """A document, by its number in the whole index, and its score as a whole number (plan/steps.py)."""

    document: int
    score: int
    near: int = 0  # the part of the score that proximity has added
    quality: int = 0  # the part that the quality of the page has added
    lacking: int = 0  # the part taken off the score because the page lacks a word (plan/most_words.py)


class Matches(Protocol):
    """The documents that match a step.

    Documents with equal scores or dates are ordered by the hash of their URL, so the order does not depend on
    how the documents are spread over partitions and segments.
    """

    @property
    def total(self) -> int:
        """The number of documents that match."""

    def best(self, count: int) -> list[Ranked]:
        """Return the first `count` documents by score, the highest first."""

    def rescored(self, proximity: Proximity, count: int) -> list[Ranked]:
        """Return the first `count` documents by the sum of score, proximity and quality, the highest first.

        Only the first RESCORED documents by score are scored again; the other documents follow, ordered by
        score. Proximity and quality never lower a score, so a document among the first never falls behind the
        other documents. Of equal sums, the higher score comes first.
        """

    def latest(self, count: int) -> list[Ranked]:
        """Return the first `count` documents by date, the newest first."""

    def documents(self) -> Sequence[int]:
        """Return the documents that match, rising."""

    def count(self, documents: Sequence[int]) -> int:
        """Return how many of the given documents match."""

    def without(self, ranges: Iterable[tuple[int, int]]) -> Matches:
        """Return the matches without the documents in some ranges [start, end), rising and without overlaps.

        Documents that were scored again stay before the other documents, so the order does not change.
        """

    def boosted(self, boosts: Boosts) -> Matches:
        """Return the matches with the factors of boosts in their scores.

        The factor of a document multiplies the sum of its score, proximity and quality. So the sum is never
        below the multiplied score, and the order that `rescored` gives stays right.
        """

    def score(self, document: int) -> int:
        """Return the score of a document, 0 if it does not match."""

    def scores(self, documents: Sequence[int]) -> list[int]:
        """Return the scores of some documents, 0 where they do not match."""

    def __contains__(self, document: int) -> bool: ...


class Evaluator(Protocol):
    """Finds the documents that match the steps of one plan."""

    def prefetch(self, steps: Iterable[Step]) -> None:
        """Read the posting lists of several steps at once."""

    def matches(self, step: Step) -> Matches:
        """Return the documents that match a step."""
