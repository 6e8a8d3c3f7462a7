"""Feeds targets with inputs and tells which of them went wrong."""

from __future__ import annotations

import faulthandler
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawlctl.tests.fuzz.corpora import corpora
from crawlctl.tests.fuzz.targets import SHARES, TARGETS, close_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SLOW = 2.5  # seconds of CPU time for one input of at most 64 KB
STUCK = 120.0  # seconds after which the process is ended with a traceback
_BATCH = 64


@dataclass(frozen=True)
class Finding:
    """An input that went wrong: `--target TARGET --seed SEED --only NUMBER` makes it again."""

    target: str
    seed: int
    number: int
    what: str
    data: bytes

    def __str__(self) -> str:
        again = f"--target {self.target} --seed {self.seed} --only {self.number}"
        return f"{self.target}: {self.what} ({again}; {len(self.data)} bytes: {self.data[:80]!r})"


@dataclass
class Tally:
    """What a target has gone through."""

    inputs: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    findings: list[Finding] = field(default_factory=list)


def inputs_of(total: int) -> dict[str, int]:
    """Return how many of so many inputs each target gets."""
    whole = sum(SHARES.values())
    return {name: max(total * share // whole, 1) for name, share in SHARES.items()}


def fuzz(
    target: str, numbers: Iterable[int], seed: int, told: Callable[[Tally], None] | None = None
) -> Tally:
    """Give a target the inputs with these numbers, and return what came of it."""
    mutator, take, tally = corpora()[target].mutator(), TARGETS[target], Tally()
    try:
        for number in numbers:
            if tally.inputs % _BATCH == 0:
                faulthandler.dump_traceback_later(STUCK, exit=True)
                if told is not None:
                    told(tally)
            _try(take, Finding(target, seed, number, "", mutator.make(number, seed)), tally)
    finally:
        faulthandler.cancel_dump_traceback_later()
        close_all([take])
    return tally


def _try(take: Callable[[bytes], None], given: Finding, tally: Tally) -> None:
    began, what = time.process_time(), ""
    try:
        take(given.data)
    except Exception as error:
        what = f"{type(error).__name__}: {error}"[:300]
    spent = time.process_time() - began
    tally.inputs += 1
    tally.seconds += spent
    tally.slowest = max(tally.slowest, spent)
    if not what and spent > SLOW:
        what = f"it took {spent:.1f} s of CPU time"
    if what:
        tally.findings.append(Finding(given.target, given.seed, given.number, what, given.data))
