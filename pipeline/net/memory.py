"""The memory of all bodies under way, kept within one budget."""

from __future__ import annotations

from typing import Protocol


class Pausable(Protocol):
    """A transfer that can be told to go on."""

    def resume(self) -> None:
        """Take up reading again."""


class BodyBudget:
    """Pauses transfers whose next bytes would exceed the budget, and resumes them when others are through.

    One of them, the favourite, may always go on, so that they cannot all wait for each other: what is held is
    at most the budget and one body.
    """

    def __init__(self, limit: int) -> None:
        self.held = 0
        self._limit = limit
        self._favourite: Pausable | None = None
        self._paused: list[Pausable] = []

    def take(self, size: int, transfer: Pausable) -> bool:
        """Return whether a transfer may keep `size` more bytes now; if not, it is resumed when it may."""
        if self.held + size > self._limit:
            if self._favourite is None:
                self._favourite = transfer
            elif self._favourite is not transfer:
                self._paused.append(transfer)
                return False
        self.held += size
        return True

    def release(self, size: int, transfer: Pausable) -> None:
        """Give back what a transfer held; it is over."""
        self.held -= size
        if self._favourite is transfer:
            self._favourite = None
        if transfer in self._paused:
            self._paused.remove(transfer)
        if self._paused and (self._favourite is None or self.held < self._limit):
            waiting, self._paused = self._paused, []
            for other in waiting:
                other.resume()
