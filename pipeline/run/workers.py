"""Functions run in forked children, at most so many at once, and none of them left behind.

Why os.fork rather than multiprocessing: a child shall start without importing anything again; shall end,
together with every process it has started, when the driver ends for whatever reason (kill -9 included);
and shall never run the driver's clean-up. So each child leads a process group, watches a pipe whose other
end only the driver holds, and leaves by os._exit.

Only the thread that forks lives on in the child, so a lock another thread holds at that moment stays locked
there: a function must not use objects that other threads of the driver share (open a client of one's own).
On macOS some system frameworks refuse to work in a forked child; set OBJC_DISABLE_INITIALIZE_FORK_SAFETY=YES
in the environment of the driver, or choose the `local` runner.
"""

from __future__ import annotations

import gc
import os
import pickle
import selectors
import signal
import sys
import threading
import time
import traceback
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STOP_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
# How often to look for a child whose report pipe a process of its own keeps open after its death.
CHECK_SECONDS = 1.0
READ_BYTES = 1 << 16
# What a child may take to save its work when it is asked to stop, and how often to see whether it has.
GRACE_SECONDS = 10.0
POLL_SECONDS = 0.02


class ChildDied(Exception):
    """A child ended without finishing its function or saying why."""

    def __init__(self, number: int, exit_code: int) -> None:
        super().__init__(number, exit_code)
        self.number = number
        self.exit_code = exit_code  # negative: the signal that killed it


def run_in_children(functions: Iterable[Callable[[], None]], limit: int) -> None:
    """Call each function in a child of its own; what the first failing one raised ends the others."""
    running: set[_Child] = set()
    with _lifeline() as lifeline, selectors.DefaultSelector() as selector:
        try:
            for number, function in enumerate(functions):
                while len(running) >= limit:
                    _await_some(running, selector)
                with _signals_held() as mask:
                    child = _Child(number, function, lifeline, mask)
                    running.add(child)
                selector.register(child.reader, selectors.EVENT_READ, child)
            while running:
                _await_some(running, selector)
        finally:
            _end(running)


def _end(children: set[_Child]) -> None:
    """Ask children to stop, which some use to save their work, and after a while make them."""
    for child in children:
        child.ask_to_stop()
    deadline = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < deadline and not all(child.has_ended() for child in children):
        time.sleep(POLL_SECONDS)
    for child in children:
        child.kill()


def _await_some(running: set[_Child], selector: selectors.BaseSelector) -> None:
    for key, _ in selector.select(CHECK_SECONDS):
        key.data.read_report()
    ended = [child for child in running if child.has_ended()]
    for child in sorted(ended, key=lambda child: child.number):
        selector.unregister(child.reader)
        running.discard(child)
        child.bury()
        child.raise_failure()


@dataclass(frozen=True)
class _Lifeline:
    """A pipe nothing is ever written to: its end is the end of the driver."""

    reader: int
    writer: int


@contextmanager
def _lifeline() -> Iterator[_Lifeline]:
    lifeline = _Lifeline(*os.pipe())
    try:
        yield lifeline
    finally:
        os.close(lifeline.writer)
        os.close(lifeline.reader)


@contextmanager
def _signals_held() -> Iterator[set[signal.Signals | int]]:
    """Let no signal come between a fork and the note of its process id; give the mask to go back to."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield set(before)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Child:
    """A forked process that calls one function, and the pipe on which it reports an exception."""

    def __init__(
        self, number: int, function: Callable[[], None], lifeline: _Lifeline, mask: set[signal.Signals | int]
    ) -> None:
        self.number = number
        self.reader, writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.pid = _fork()
        if self.pid == 0:
            _live(function, writer, lifeline, mask)
        os.close(writer)
        with suppress(OSError):  # the child does the same; whoever comes first
            os.setpgid(self.pid, self.pid)
        self._report = bytearray()
        self._reported = False
        self._status: int | None = None

    def read_report(self) -> None:
        with suppress(BlockingIOError):
            while data := os.read(self.reader, READ_BYTES):
                self._report += data
            self._reported = True

    def ask_to_stop(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)

    def has_ended(self) -> bool:
        return self._wait(0 if self._reported else os.WNOHANG)

    def kill(self) -> None:
        self._kill_group()
        self._wait(0)
        os.close(self.reader)

    def _wait(self, options: int) -> bool:
        """Tell whether the child has ended, and keep its status."""
        if self._status is None:
            try:
                pid, status = os.waitpid(self.pid, options)
            except ChildProcessError:
                # A signal came between the last wait and the note of what it gave; we are on our way out.
                pid, status = self.pid, 0
            if pid:
                self._status = status
        return self._status is not None

    def bury(self) -> None:
        """Read the last of the report and end what the child has started and not stopped."""
        self.read_report()
        self._kill_group()
        os.close(self.reader)

    def raise_failure(self) -> None:
        if self._report:
            raise pickle.loads(self._report)  # noqa: S301 - written by our own child
        if self._status:
            raise ChildDied(self.number, os.waitstatus_to_exitcode(self._status))

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def _fork() -> int:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there is none, or its reader has gone
            stream.flush()
    with warnings.catch_warnings():
        # Python 3.12 warns of forking beside other threads; what that asks of a function is said above.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _live(
    function: Callable[[], None], report: int, lifeline: _Lifeline, mask: set[signal.Signals | int]
) -> NoReturn:
    exit_code = 1
    try:
        os.setpgid(0, 0)
        os.close(lifeline.writer)
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        gc.freeze()  # the driver's garbage may hold files whose buffers are not ours to flush
        threading.Thread(target=_die_with_driver, args=(lifeline.reader,), daemon=True).start()
        function()
        exit_code = 0
    except BaseException as err:
        _send(report, err)
    finally:
        os._exit(exit_code)


def _die_with_driver(lifeline: int) -> None:
    os.read(lifeline, 1)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _send(report: int, err: BaseException) -> None:
    with os.fdopen(report, "wb") as pipe:
        pipe.write(_pickled(err))


def _pickled(err: BaseException) -> bytes:
    """Return the exception as the driver can load it: itself, or where it cannot travel its traceback."""
    try:
        data = pickle.dumps(err)
        pickle.loads(data)  # noqa: S301 - our own bytes; some exceptions can be written but not read
    except Exception:
        data = pickle.dumps(RuntimeError("".join(traceback.format_exception(err))))
    return data
