"""Forked children: each calls one function and reports its result, and none outlives its parent.

Why os.fork and not multiprocessing: a child must start without importing anything again; it must end, with
every process that it has started, when its parent ends for any reason (kill -9 included); and it must never
run the parent's clean-up. So each child leads a process group, watches a pipe whose other end only the parent
holds, and leaves by os._exit. While C code keeps Python from running, the pipe is not watched;
`die_with_parent` is for children to which that may happen.

Only the thread that forks lives on in the child. A lock that another thread holds at that moment stays locked
there, so a function must not use objects that threads of the parent share (it opens clients of its own). On
macOS some system frameworks refuse to work in a forked child; set OBJC_DISABLE_INITIALIZE_FORK_SAFETY=YES
in the environment of the driver, or choose the `local` runner.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
import traceback
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STOP_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
READ_BYTES = 1 << 16
_PR_SET_PDEATHSIG = 1  # of prctl(2)


class ChildDied(Exception):
    """A child ended without a result and without an exception."""

    def __init__(self, number: int, exit_code: int) -> None:
        super().__init__(number, exit_code)
        self.number = number
        self.exit_code = exit_code  # negative: the signal that killed it


class ChildTraceback(Exception):
    """The traceback of an exception in a child, as text: the cause of the same exception in the parent."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n{self.text}"


def signal_name(number: int) -> str:
    """Return the name of a signal, SIGKILL for 9; some numbers have no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@dataclass(frozen=True)
class Lifeline:
    """A pipe that is never written to: it is closed when the parent ends."""

    reader: int
    writer: int


@contextmanager
def lifeline() -> Iterator[Lifeline]:
    """Open the pipe that children watch while the block runs."""
    pipe = Lifeline(*os.pipe())
    try:
        yield pipe
    finally:
        os.close(pipe.writer)
        os.close(pipe.reader)


@contextmanager
def signals_held() -> Iterator[set[signal.Signals | int]]:
    """Block signals between a fork and the storing of its process id; yield the former signal mask."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield set(before)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def die_with_parent() -> None:
    """Have the kernel end this child with its parent, even while C code keeps Python from running (Linux).

    Use it for a child whose own processes end by themselves: the kernel ends only the child, not these.
    """
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Child:
    """A forked process that calls one function, and the pipe on which it reports the result."""

    def __init__(
        self,
        function: Callable[[], object],
        line: Lifeline,
        mask: set[signal.Signals | int],
        number: int = 0,
    ) -> None:
        self.number = number
        self.reader, writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.pid = fork()
        if self.pid == 0:
            _live(function, writer, line, mask)
        os.close(writer)
        with suppress(OSError):  # the child does the same; the first call counts
            os.setpgid(self.pid, self.pid)
        self._report = bytearray()
        self._reported = False
        self._status: int | None = None

    def read_report(self) -> None:
        """Read what has arrived of the report; without this a long report would block the child."""
        with suppress(BlockingIOError):
            while data := os.read(self.reader, READ_BYTES):
                self._report += data
            self._reported = True

    def ask_to_stop(self, number: int = signal.SIGTERM) -> None:
        """Send the child a signal; some functions save their work then."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def has_ended(self) -> bool:
        """Return whether the child has ended."""
        return self._wait(0 if self._reported else os.WNOHANG)

    def kill(self) -> None:
        """Kill the child and all processes that it has started."""
        self._kill_group()
        self._wait(0)
        self._close()

    def bury(self) -> None:
        """Read the rest of the report and kill the processes that the child has left running."""
        self.read_report()
        self._kill_group()
        self._close()

    def result(self) -> object:
        """Return the result of a child that has ended, or raise its exception, or ChildDied."""
        if self._report:
            value, error, trace = pickle.loads(self._report)  # noqa: S301 - written by our own child
            if error is not None:
                raise error from ChildTraceback(trace)
            return value
        raise ChildDied(self.number, os.waitstatus_to_exitcode(self._status or 0))

    def _wait(self, options: int) -> bool:
        """Return whether the child has ended, and store its exit status."""
        if self._status is None:
            try:
                pid, status = os.waitpid(self.pid, options)
            except ChildProcessError:
                # A signal came before the result of the last wait was stored; the driver is about to exit.
                pid, status = self.pid, 0
            if pid:
                self._status = status
        return self._status is not None

    def _close(self) -> None:
        reader, self.reader = self.reader, -1
        if reader >= 0:
            os.close(reader)

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def fork() -> int:
    """Fork after flushing the streams, which both processes would write otherwise."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there is no stream, or its reader is gone
            stream.flush()
    with warnings.catch_warnings():
        # Python 3.12 warns of forks beside other threads; the module docstring says what follows from that.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _live(
    function: Callable[[], object], report: int, line: Lifeline, mask: set[signal.Signals | int]
) -> NoReturn:
    exit_code = 1
    try:
        os.setpgid(0, 0)
        os.close(line.writer)
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        gc.freeze()  # unreachable objects of the parent may be files whose buffers this child must not flush
        threading.Thread(target=_watch_parent, args=(line.reader,), daemon=True).start()
        _send(report, _pickled_value(function()))
        exit_code = 0
    except BaseException as err:
        _send(report, _pickled_error(err))
    finally:
        os._exit(exit_code)


def _watch_parent(reader: int) -> None:
    os.read(reader, 1)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _send(report: int, data: bytes) -> None:
    with os.fdopen(report, "wb") as pipe:
        pipe.write(data)


def _pickled_value(value: object) -> bytes:
    return pickle.dumps((value, None, ""))


def _pickled_error(err: BaseException) -> bytes:
    """Return the exception in pickled form, or its traceback if it cannot be pickled."""
    text = "".join(traceback.format_exception(err))
    try:
        data = pickle.dumps((None, err, text))
        pickle.loads(data)  # noqa: S301 - our own bytes; some exceptions can be written but not read
    except Exception:
        data = pickle.dumps((None, RuntimeError(text), text))
    return data
