"""Keeps the memory of all bodies that are being received within one budget (fetch.memory).

Each transfer has a small reserve of its own, which is enough for nearly all pages. Larger bodies take the
rest from a pool that they share. When the pool is full, large bodies are paused until others end. If none
ends for some time, the bodies that hold memory but hardly grow are cut off. So a few servers that send much
and then slow down to a trickle can neither take memory from ordinary pages nor block it for long.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_RESERVE = 256 << 10  # bytes; nearly all pages are smaller
_TRICKLE = 4 << 10  # bytes; a transfer that asks for more bytes at once is not slow
_FAIR_SPEED = 16 << 10  # bytes per second; large bodies that are slower are cut off while others wait


class Pausable(Protocol):
    """A transfer that the budget can pause and resume."""

    def resume(self) -> None:
        """Continue to read."""


Owner = TypeVar("Owner", bound=Pausable)


@dataclass(eq=False, slots=True)
class Account(Generic[Owner]):
    """The memory of one transfer, in bytes, from its start to its end."""

    owner: Owner
    held: int = 0
    progress: int = 0  # bytes received since others began to wait
    missing: float = math.inf  # bytes still to come, if the server announced a length
    is_retrying: bool = False  # it was resumed and has received nothing since


class BodyBudget(Generic[Owner]):
    """Pauses large bodies whose next bytes would exceed the pool, and resumes them when others have ended.

    One of the large bodies, the favourite, is never paused, so that they cannot all wait for each other. Its
    memory is not taken from the pool. So with at most `transfers` transfers at once, the memory held is at
    most `limit` plus one body.
    """

    def __init__(
        self, limit: int, transfers: int, patience: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.held = 0
        self.reserve = min(_MOST_RESERVE, limit // (2 * transfers))
        self._pool = limit - transfers * self.reserve
        self._pooled = 0
        self._patience = patience
        self._clock = clock
        self._large: set[Account[Owner]] = set()
        self._waiting: set[Account[Owner]] = set()
        self._favourite: Account[Owner] | None = None
        self._cut_at = math.inf

    @property
    def cut_at(self) -> float:
        """The time at which the slowest bodies are cut off; infinity while no body waits."""
        return self._cut_at if self._waiting else math.inf

    def take(self, size: int, account: Account[Owner]) -> bool:
        """Return whether a transfer may keep `size` more bytes now; if not, it is resumed later."""
        grown = account.held + size - self.reserve
        if grown > 0:
            grown = min(grown, size)
            if account is not self._favourite:
                if self._pooled + grown <= self._room(size):
                    self._pooled += grown
                elif not self._becomes_favourite(account):
                    self._pause(account)
                    return False
            self._large.add(account)
            if account.is_retrying:
                self._go_on(account, size)
        account.held += size
        account.progress += size
        self.held += size
        return True

    def release(self, account: Account[Owner]) -> None:
        """Take back all memory of a transfer that has ended."""
        self.held -= account.held
        if account is self._favourite:
            self._favourite = None
        elif account in self._large:
            self._pooled -= account.held - self.reserve
        self._large.discard(account)
        self._waiting.discard(account)
        account.held, account.is_retrying = 0, False
        if self._waiting and (self._favourite is None or self._pooled < self._pool):
            self._resume_all()

    def to_cut_off(self) -> list[Owner]:
        """Return the large bodies to cut off now, while others wait: all slow ones, or the slowest."""
        if self._clock() < self.cut_at:
            return []
        self._cut_at = self._clock() + self._patience
        holding = sorted(self._large - self._waiting, key=lambda account: account.progress)
        dripping = [one for one in holding if one.progress < _FAIR_SPEED * self._patience]
        return [account.owner for account in dripping or holding[:1]]

    def _room(self, size: int) -> int:
        """Return the usable bytes of the pool; 1/8 is kept for trickles, to see which bodies are slow."""
        return self._pool if size <= _TRICKLE else self._pool - (self._pool >> 3)

    def _becomes_favourite(self, account: Account[Owner]) -> bool:
        if self._favourite is not None:
            return False
        self._favourite = account
        self._pooled -= max(0, account.held - self.reserve)
        return True

    def _pause(self, account: Account[Owner]) -> None:
        # A transfer that was resumed and found no room has been waiting all the time.
        if not (self._waiting or account.is_retrying):
            self._begin_patience()
        account.is_retrying = False
        self._waiting.add(account)

    def _go_on(self, account: Account[Owner], size: int) -> None:
        """Record that a waiting transfer has found room; while this happens, no body is cut off."""
        account.is_retrying = False
        if size > _TRICKLE:
            self._begin_patience()

    def _resume_all(self) -> None:
        """Resume all waiting transfers, those with the fewest missing bytes first; some may wait again."""
        waiting = sorted(self._waiting, key=lambda account: (account.missing, account.held))
        self._waiting.clear()
        for account in waiting:
            account.is_retrying = True
        for account in waiting:
            account.owner.resume()

    def _begin_patience(self) -> None:
        self._cut_at = self._clock() + self._patience
        for account in self._large:
            account.progress = 0
