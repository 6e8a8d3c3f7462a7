"""What a fetch task tells of itself while it runs."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Standing(NamedTuple):
    """How far a task is; `nearest` is the time at which the next host may be asked, None if none waits."""

    pages: int  # answered, those of adopted runs included
    bytes: int
    errors: int  # no usable answer
    planned: int  # URLs the task set out with
    in_flight: int
    hosts_waiting: int
    runs: int  # saved so far
    nearest: float | None


class Progress(Protocol):
    """Whoever wants to know; called about once a second."""

    def __call__(self, standing: Standing, /) -> None:
        """Take note of how far the task is."""


def say_nothing(_standing: Standing) -> None:
    """Tell nobody."""
