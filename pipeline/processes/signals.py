"""Makes SIGTERM and SIGHUP raise an exception, as Ctrl-C does, so that everything is cleaned up."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

EXIT_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Terminated(SystemExit):
    """The exit that a signal asked for; other code that calls sys.exit raises a plain SystemExit."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Turn signals that would kill the process into Terminated(128 + signal).

    A handler that the caller has set is kept.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python sets and runs handlers in the main thread only
        return
    changed = [number for number in EXIT_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, _exit)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


def _exit(number: int, _frame: FrameType | None) -> NoReturn:
    raise Terminated(128 + number)
