"""Calls functions in forked children (processes/children.py), a limited number at the same time.

If a function raises an exception, all other functions are ended. A function whose process is killed (by the
kernel when memory is short, or by the crash of a native library) is tried again, the last time with no other
function at the same time. So a function must start from scratch, whatever an earlier try has left. A process
that was asked to stop is not started again.
"""

from __future__ import annotations

import logging
import selectors
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.processes.children import (
    STOP_SIGNALS,
    Child,
    ChildDied,
    lifeline,
    signal_name,
    signals_held,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.processes.children import Lifeline

log = logging.getLogger(__name__)

TRIES = 3  # the most tries of a function whose process is killed
# Seconds between two checks for a dead child whose report pipe is kept open by a process that it started.
CHECK_SECONDS = 1.0
# Seconds that a child has to save its work when it is asked to stop, and seconds between two checks for its
# end.
GRACE_SECONDS = 10.0
POLL_SECONDS = 0.02

__all__ = ["TRIES", "ChildDied", "run_in_children"]


def run_in_children(functions: Iterable[Callable[[], None]], limit: int) -> None:
    """Call each function in its own child; the first exception ends all others and is raised here."""
    with lifeline() as line, selectors.DefaultSelector() as selector:
        work = _Work(functions, limit, line, selector)
        try:
            work.do()
        finally:
            work.end()


@dataclass(frozen=True)
class _Try:
    """A function, its number, and the number of earlier tries."""

    number: int
    function: Callable[[], None]
    failed: int = 0

    @property
    def is_last(self) -> bool:
        return self.failed == TRIES - 1


class _Work:
    """The functions that still have to be called, and the children that run."""

    def __init__(
        self,
        functions: Iterable[Callable[[], None]],
        limit: int,
        line: Lifeline,
        selector: selectors.BaseSelector,
    ) -> None:
        self._new = (_Try(number, function) for number, function in enumerate(functions))
        self._again: deque[_Try] = deque()
        self._limit = limit
        self._line = line
        self._selector = selector
        self._running: dict[Child, _Try] = {}

    def do(self) -> None:
        """Call all functions."""
        for attempt in self._attempts():
            while self._running and not self._has_room(attempt):
                self._await_some()
            self._start(attempt)

    def end(self) -> None:
        """Ask the running children to stop, so that they can save their work, and kill them after a while."""
        for child in self._running:
            child.ask_to_stop()
        deadline = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < deadline and not all(child.has_ended() for child in self._running):
            time.sleep(POLL_SECONDS)
        for child in self._running:
            child.kill()

    def _attempts(self) -> Iterator[_Try]:
        """Yield the next function to start, until none is left and no child runs."""
        for attempt in self._new:
            yield attempt
            while self._again:
                yield self._again.popleft()
        while self._running or self._again:
            if self._again:
                yield self._again.popleft()
            else:
                self._await_some()

    def _has_room(self, attempt: _Try) -> bool:
        if attempt.is_last or any(other.is_last for other in self._running.values()):
            return not self._running
        return len(self._running) < self._limit

    def _start(self, attempt: _Try) -> None:
        with signals_held() as mask:
            child = Child(attempt.function, self._line, mask, attempt.number)
            self._running[child] = attempt
        self._selector.register(child.reader, selectors.EVENT_READ, child)

    def _await_some(self) -> None:
        for key, _ in self._selector.select(CHECK_SECONDS):
            key.data.read_report()
        ended = [child for child in self._running if child.has_ended()]
        for child in sorted(ended, key=lambda child: child.number):
            self._selector.unregister(child.reader)
            attempt = self._running.pop(child)
            child.bury()
            try:
                child.result()
            except ChildDied as died:
                self._try_again(attempt, died)

    def _try_again(self, attempt: _Try, died: ChildDied) -> None:
        if attempt.is_last or not was_killed(died.exit_code):
            raise died
        again = _Try(attempt.number, attempt.function, attempt.failed + 1)
        log.warning(
            "task %d was killed by %s; it is tried again%s",
            attempt.number,
            signal_name(-died.exit_code),
            ", with no other beside it" if again.is_last else "",
        )
        self._again.append(again)


def was_killed(exit_code: int) -> bool:
    """Return whether a process was ended by a signal that does not ask it to stop."""
    return exit_code < 0 and -exit_code not in STOP_SIGNALS
