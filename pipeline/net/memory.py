"""The memory of all answers under way, kept within one budget.

Each transfer has a reserve that it may fill whatever the others do, enough for nearly every page.  What goes
beyond comes out of a pool that large bodies share.  Where the pool is used up, large bodies wait for others
to end; if for some time none does, the slowest of those that hold on to it is to be cut off.  So a few
servers that send much and then drip can neither take the memory from ordinary pages nor hold it for long.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_RESERVE = 256 << 10  # bytes; nearly all pages are smaller


class Pausable(Protocol):
    """A transfer that can be told to go on."""

    def resume(self) -> None:
        """Take up reading again."""


@dataclass(eq=False, slots=True)
class Account:
    """What one transfer holds, in bytes."""

    owner: Pausable
    held: int = 0
    progress: int = 0  # bytes since others began to wait
    is_waiting: bool = False


class BodyBudget:
    """Pauses large bodies whose next bytes would exceed the pool, and resumes them when others are through.

    One of them, the favourite, may always go on, so that they cannot all wait for each other.  With at most
    `transfers` at once, what is held is at most `limit` and one body.
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
        self._large: set[Account] = set()
        self._waiting: set[Account] = set()
        self._favourite: Account | None = None
        self._cut_at = math.inf

    @property
    def cut_at(self) -> float:
        """When the slowest body is to be cut off, by the clock; infinite while nobody waits."""
        return self._cut_at

    def take(self, size: int, account: Account) -> bool:
        """Return whether a transfer may keep `size` more bytes now; if not, it is resumed when it may."""
        grown = account.held + size - self.reserve
        if grown > 0:
            grown = min(grown, size)
            if self._pooled + grown > self._pool and not self._is_favourite(account):
                self._pause(account)
                return False
            self._pooled += grown
            self._large.add(account)
        account.held += size
        account.progress += size
        self.held += size
        return True

    def release(self, account: Account) -> None:
        """Take back all that a transfer held; it is over."""
        self.held -= account.held
        if account in self._large:
            self._pooled -= account.held - self.reserve
        self._large.discard(account)
        self._waiting.discard(account)
        if self._favourite is account:
            self._favourite = None
        account.held, account.is_waiting = 0, False
        if not self._waiting:
            self._cut_at = math.inf
        elif self._favourite is None or self._pooled < self._pool:
            self._resume_all()

    def slowest(self) -> Pausable | None:
        """Return the large body to be cut off now: the one that grew least while others waited in vain."""
        if self._clock() < self._cut_at:
            return None
        self._cut_at = self._clock() + self._patience
        holding = self._large - self._waiting
        return min(holding, key=lambda account: account.progress).owner if holding else None

    def _is_favourite(self, account: Account) -> bool:
        if self._favourite is None:
            self._favourite = account
        return self._favourite is account

    def _pause(self, account: Account) -> None:
        account.is_waiting = True
        self._waiting.add(account)
        if self._cut_at == math.inf:
            self._begin_patience()

    def _resume_all(self) -> None:
        """Let all try again, the smallest first; whoever still finds no room waits on."""
        self._begin_patience()
        waiting = sorted(self._waiting, key=lambda account: account.held)
        self._waiting.clear()
        for account in waiting:
            account.is_waiting = False
        for account in waiting:
            account.owner.resume()
        if not self._waiting:
            self._cut_at = math.inf

    def _begin_patience(self) -> None:
        self._cut_at = self._clock() + self._patience
        for account in self._large:
            account.progress = 0
