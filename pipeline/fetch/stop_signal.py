"""Ctrl-C and SIGTERM in a fetch task: it saves what it has and then goes the way of the signal.

An exception could come at any instruction and would leave the run half changed; so a signal only leaves a
note, which the task reads about once a second. A second signal ends it at once.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether the task has been asked to stop, and by which signal."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __call__(self) -> bool:
        return self.signal is not None


@contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    """Take note of signals while the block runs, and let them have their way behind it."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread may set handlers, and only there they run
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def note(number: int, _frame: FrameType | None) -> None:
        stop.signal = number
        for other, handler in before.items():
            signal.signal(other, handler)

    for number in _SIGNALS:
        signal.signal(number, note)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if stop.signal is not None:
        signal.raise_signal(stop.signal)
