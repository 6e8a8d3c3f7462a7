"""Ends calls of libcurl that a hostile server keeps from returning.

OpenSSL stays inside one call as long as handshake messages arrive that do not concern the caller
(HelloRequest, KeyUpdate, NewSessionTicket). A server that sends them fast enough keeps it there: libcurl
checks no time-out, and no other host is served. So a thread watches the calls and shuts down the socket of a
call that takes too long. The call then ends as if the connection had broken.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections import Counter, deque
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_LOOKS = 4  # checks that find the same call running, before the call counts as too long
_MAX_STALLS = 3  # after this many stalls the engine does not dial the address again


class DialledSocket(NamedTuple):
    """A socket: the host it was opened for, and the address and port it is connected to."""

    host: str
    address: tuple[str, int]


class Stall(NamedTuple):
    """A call that was ended: the hosts whose sockets were shut down, and whether they surely caused it."""

    hosts: frozenset[str]
    is_certain: bool


class Watchdog:
    """Shuts down the socket of a libcurl call that takes longer than `patience` seconds.

    A call counts as too long when several checks in a row found it running. A clock alone would blame the
    server for time in which the whole process was stopped or swapped out.
    """

    def __init__(self, patience: float, late_hosts: Callable[[], Collection[str]]) -> None:
        self.stalls: deque[Stall] = deque()  # the engine takes them when the call has returned
        self._interval = patience / _LOOKS
        self._late_hosts = late_hosts
        self._sockets: dict[int, DialledSocket] = {}
        self._stalled: Counter[tuple[str, int]] = Counter()
        # A new tuple for each call, so that its identity distinguishes two calls.
        self._call: tuple[int, DialledSocket | None] | None = None
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread that watches, unless it runs already."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="libcurl watchdog", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._is_over.set()
        if self._thread is not None and self._thread.is_alive():
            self._thread.join()

    def dialled(self, fd: int, socket_: DialledSocket) -> None:
        """Record the host and address of a new socket; it replaces a closed socket with the same number."""
        self._sockets[fd] = socket_

    def refusal(self, address: tuple[str, int]) -> str | None:
        """Return why an address is not dialled again, or None if it may be dialled."""
        times = self._stalled[address] if self._stalled else 0
        return f"{address[0]} has kept libcurl busy {times} times" if times >= _MAX_STALLS else None

    def begin(self, fd: int = -1) -> DialledSocket | None:
        """Record that a call begins; return the socket `fd` it is for, None if it is for no single socket."""
        dialled = self._sockets.get(fd)
        self._call = (fd, dialled)
        return dialled

    def end(self) -> None:
        """Record that the call has returned."""
        self._call = None

    def _watch(self) -> None:
        # Signals are handled in the main thread.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        seen, looks = None, 0
        while not self._is_over.wait(self._interval):
            call = self._call
            looks = looks + 1 if call is seen and call is not None else 0
            seen = call
            if call is not None and looks and looks % _LOOKS == 0:
                self._break(call, looks // _LOOKS)

    def _break(self, call: tuple[int, DialledSocket | None], time: int) -> None:
        """Shut down the socket of a call; the second time the sockets of all late transfers, then all."""
        fd, dialled = call
        if time == 1 and dialled is not None and self._end({fd: dialled}, is_certain=True):
            self._stalled[dialled.address] += 1
            return
        late = frozenset(self._late_hosts()) if time <= 2 else frozenset()
        sockets = {fd: one for fd, one in list(self._sockets.items()) if not late or one.host in late}
        self._end(sockets, is_certain=False)

    def _end(self, sockets: dict[int, DialledSocket], is_certain: bool) -> bool:
        """Shut down the sockets that are still open to the same address; return whether there were any."""
        with ExitStack() as opened:
            found = []
            for fd, dialled in sockets.items():
                if (connection := _same_socket(fd, dialled.address)) is not None:
                    found.append((opened.enter_context(connection), dialled.host))
            # The stall is recorded first, because the call may return before the next line runs.
            self.stalls.append(Stall(frozenset(host for _, host in found), is_certain))
            for connection, _ in found:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        return bool(found)


def _same_socket(fd: int, address: tuple[str, int]) -> socket.socket | None:
    """Return a duplicate of a socket if it is still connected to that address, else None.

    libcurl may close its socket at any time, and the system may give the number to another file. A duplicate
    cannot change any more, so it is checked and then shut down.
    """
    try:
        copy = os.dup(fd)
    except OSError:
        return None
    try:
        connection = socket.socket(fileno=copy)
    except OSError:  # it is not a socket any more
        os.close(copy)
        return None
    with suppress(OSError):
        if connection.getpeername()[:2] == address:
            return connection
    connection.close()
    return None
