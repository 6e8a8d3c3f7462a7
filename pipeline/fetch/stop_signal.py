"""Ctrl-C and SIGTERM in a fetch task: the task saves its run before it ends.

An exception could be raised at any instruction and would leave the run half changed. So the first signal is
only recorded, and the task checks for it about once per second. A second signal ends the task at once.
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
    """Whether a signal has asked the task to stop, and which one; call it to ask."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __call__(self) -> bool:
        return self.signal is not None


@contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    """Record signals while the block runs; after the block the recorded signal is raised again."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread may set signal handlers
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
