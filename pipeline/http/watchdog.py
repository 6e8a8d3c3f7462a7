"""Ends calls of libcurl that a server keeps from returning.

OpenSSL reads on inside one call while messages of the handshake come in that mean nothing to the caller
(HelloRequest, KeyUpdate, NewSessionTicket).  A server that sends them fast enough keeps it there: no time-out
of libcurl is looked at, no other host is served.  So a thread looks on from outside and shuts the socket
down, and the call ends as it does when a connection breaks.
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

_LOOKS = 4  # at the same call, before it has lasted too long
_MAX_STALLS = 3  # after as many the address is not dialled again by this engine


class Dialled(NamedTuple):
    """A socket: for which host it was opened, and to which address and port."""

    host: str
    address: tuple[str, int]


class Stall(NamedTuple):
    """A call that was ended: whose sockets were shut down, and whether they are known to be at fault."""

    hosts: frozenset[str]
    is_certain: bool


class Watchdog:
    """Shuts down the socket that a call of libcurl has been working on for longer than `patience` seconds.

    A call is given up when several looks in a row have found it under way.  A clock alone would blame a
    server for the time in which the whole process was stopped or swapped out.
    """

    def __init__(self, patience: float, late_hosts: Callable[[], Collection[str]]) -> None:
        self.stalls: deque[Stall] = deque()  # for the engine to take, once the call has returned
        self._interval = patience / _LOOKS
        self._late_hosts = late_hosts
        self._sockets: dict[int, Dialled] = {}
        self._stalled: Counter[tuple[str, int]] = Counter()
        # A new object for each call, so that its identity tells two calls apart.
        self._call: tuple[int, Dialled | None] | None = None
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look on."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._look_on, name="libcurl watchdog", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._is_over.set()
        if self._thread is not None and self._thread.is_alive():
            self._thread.join()

    def dialled(self, fd: int, socket_: Dialled) -> None:
        """Note what a new socket is for; it replaces a closed one of the same number."""
        self._sockets[fd] = socket_

    def refusal(self, address: tuple[str, int]) -> str | None:
        """Return why an address is not dialled any more, or None where it may be."""
        times = self._stalled[address] if self._stalled else 0
        return f"{address[0]} has kept libcurl busy {times} times" if times >= _MAX_STALLS else None

    def begin(self, fd: int = -1) -> Dialled | None:
        """Note that a call begins, for a socket if it is for a single one; return what is known of that."""
        dialled = self._sockets.get(fd)
        self._call = (fd, dialled)
        return dialled

    def end(self) -> None:
        """Note that the call has returned."""
        self._call = None

    def _look_on(self) -> None:
        # Signals are for the main thread.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        seen, looks = None, 0
        while not self._is_over.wait(self._interval):
            call = self._call
            looks = looks + 1 if call is seen and call is not None else 0
            seen = call
            if call is not None and looks and looks % _LOOKS == 0:
                self._break(call, looks // _LOOKS)

    def _break(self, call: tuple[int, Dialled | None], time: int) -> None:
        """Shut down the socket of a call; next time those of transfers that are late, and then all."""
        fd, dialled = call
        if time == 1 and dialled is not None and self._end({fd: dialled}, is_certain=True):
            self._stalled[dialled.address] += 1
            return
        late = frozenset(self._late_hosts()) if time <= 2 else frozenset()
        sockets = {fd: one for fd, one in list(self._sockets.items()) if not late or one.host in late}
        self._end(sockets, is_certain=False)

    def _end(self, sockets: dict[int, Dialled], is_certain: bool) -> bool:
        """Shut down those of the sockets that still are what they were; whether there were any."""
        with ExitStack() as opened:
            found = []
            for fd, dialled in sockets.items():
                if (connection := _same_socket(fd, dialled.address)) is not None:
                    found.append((opened.enter_context(connection), dialled.host))
            # Noted first: the call may return before the next line is run.
            self.stalls.append(Stall(frozenset(host for _, host in found), is_certain))
            for connection, _ in found:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        return bool(found)


def _same_socket(fd: int, address: tuple[str, int]) -> socket.socket | None:
    """Return a second handle of a socket, if it is still one to that address.

    libcurl may close its socket at any time and something else get the number.  What a handle leads to cannot
    change, so it is looked at, and shut down, through the handle.
    """
    try:
        copy = os.dup(fd)
    except OSError:
        return None
    try:
        connection = socket.socket(fileno=copy)
    except OSError:  # no socket
        os.close(copy)
        return None
    with suppress(OSError):
        if connection.getpeername()[:2] == address:
            return connection
    connection.close()
    return None
