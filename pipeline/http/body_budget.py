"""The memory of all answers under way, kept within one budget.

Each transfer has a reserve that it may fill whatever the others do, enough for nearly every page.  What goes
beyond comes out of a pool that large bodies share.  Where the pool is used up, large bodies wait for others
to end; if for some time none does, those that hold on to it and hardly grow are to be cut off.  So a few
servers that send much and then drip can neither take the memory from ordinary pages nor hold it for long.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_RESERVE = 256 << 10  # bytes; nearly all pages are smaller
_TRICKLE = 4 << 10  # bytes; whoever asks for more at a time is not dripping
_FAIR_SPEED = 16 << 10  # bytes a second; who is slower and large is cut off while others wait for memory


class Pausable(Protocol):
    """A transfer that can be told to go on."""

    def resume(self) -> None:
        """Take up reading again."""


Owner = TypeVar("Owner", bound=Pausable)


@dataclass(eq=False, slots=True)
class Account(Generic[Owner]):
    """What one transfer holds, in bytes."""

    owner: Owner
    held: int = 0
    progress: int = 0  # since others began to wait
    missing: float = math.inf  # as far as the server has announced it
    is_waiting: bool = False
    is_retrying: bool = False  # has been told to go on and not taken anything since


class BodyBudget(Generic[Owner]):
    """Pauses large bodies whose next bytes would exceed the pool, and resumes them when others are through.

    One of them, the favourite, may always go on, so that they cannot all wait for each other; it does not
    count for the pool.  With at most `transfers` at once, what is held is at most `limit` and one body.
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
        """When the slowest bodies are to be cut off, by the clock; infinite while nobody waits."""
        return self._cut_at if self._waiting else math.inf

    def take(self, size: int, account: Account[Owner]) -> bool:
        """Return whether a transfer may keep `size` more bytes now; if not, it is resumed when it may."""
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
        """Take back all that a transfer held; it is over."""
        self.held -= account.held
        if account is self._favourite:
            self._favourite = None
        elif account in self._large:
            self._pooled -= account.held - self.reserve
        self._large.discard(account)
        self._waiting.discard(account)
        account.held, account.is_waiting, account.is_retrying = 0, False, False
        if self._waiting and (self._favourite is None or self._pooled < self._pool):
            self._resume_all()

    def to_cut_off(self) -> list[Owner]:
        """Return the large bodies to be cut off now, while others wait: those that drip, or the slowest."""
        if self._clock() < self.cut_at:
            return []
        self._cut_at = self._clock() + self._patience
        holding = sorted(self._large - self._waiting, key=lambda account: account.progress)
        dripping = [one for one in holding if one.progress < _FAIR_SPEED * self._patience]
        return [account.owner for account in dripping or holding[:1]]

    def _room(self, size: int) -> int:
        """Return how full the pool may get; an eighth is kept for trickles, so that dripping bodies show."""
        return self._pool if size <= _TRICKLE else self._pool - (self._pool >> 3)

    def _becomes_favourite(self, account: Account[Owner]) -> bool:
        if self._favourite is not None:
            return False
        self._favourite = account
        self._pooled -= max(0, account.held - self.reserve)
        return True

    def _pause(self, account: Account[Owner]) -> None:
        # One that has tried again in vain has been waiting all the time.
        if not (self._waiting or account.is_retrying):
            self._begin_patience()
        account.is_waiting, account.is_retrying = True, False
        self._waiting.add(account)

    def _go_on(self, account: Account[Owner], size: int) -> None:
        """Note that one that waited has found room: as long as that happens nobody is cut off."""
        account.is_retrying = False
        if size > _TRICKLE:
            self._begin_patience()

    def _resume_all(self) -> None:
        """Let all try again, those that miss least first; whoever still finds no room waits on."""
        waiting = sorted(self._waiting, key=lambda account: (account.missing, account.held))
        self._waiting.clear()
        for account in waiting:
            account.is_waiting, account.is_retrying = False, True
        for account in waiting:
            account.owner.resume()

    def _begin_patience(self) -> None:
        self._cut_at = self._clock() + self._patience
        for account in self._large:
            account.progress = 0
