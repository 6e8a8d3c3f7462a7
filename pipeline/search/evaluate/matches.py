"""What an evaluator hands back: the documents that match, as many of the best as are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.search.plan.steps import Step


class Ranked(NamedTuple):
    """A document, by its number in the whole index, and its score in units."""

    document: int
    units: int


class Matches(Protocol):
    """The documents that match a step; equal ones rank by the order of segments, hosts and URLs."""

    @property
    def total(self) -> int:
        """How many there are."""

    def best(self, count: int) -> list[Ranked]:
        """Return the first ones by score."""

    def latest(self, count: int) -> list[Ranked]:
        """Return the first ones by date, the newest first."""

    def __contains__(self, document: int) -> bool: ...


class Evaluator(Protocol):
    """Finds the documents that match."""

    def prefetch(self, steps: Iterable[Step]) -> None:
        """Read the lists of several steps in one go."""

    def matches(self, step: Step) -> Matches:
        """Return the documents that match a step."""
