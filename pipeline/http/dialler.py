"""Opens the sockets of a transfer, if the address may be dialled.

libcurl asks for each socket at the moment it connects, after all redirects and DNS look-ups. So the address
that is judged here is the address that is dialled.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pycurl

from crawlctl.pipeline.http.exchange import ErrorKind, FetchError
from crawlctl.pipeline.http.watchdog import DialledSocket

if TYPE_CHECKING:
    from crawlctl.pipeline.http.addresses import AddressGuard
    from crawlctl.pipeline.http.watchdog import Watchdog


class Dialler:
    """Opens sockets for one handle of libcurl; the handle makes many transfers, one after the other.

    `failure` says why the current transfer has no socket, None if it has one.
    """

    def __init__(self, guard: AddressGuard, watchdog: Watchdog, proxy: str) -> None:
        self.failure: FetchError | None = None
        self._guard = guard
        self._watchdog = watchdog
        self._proxy = proxy
        self._host = ""
        self._has_dialled = False

    def begin(self, host: str) -> None:
        """Prepare for a transfer from `host`."""
        self._host = host
        self._has_dialled = False
        self.failure = None

    def open_socket(self, purpose: int, address: Any) -> int:
        """Return the number of a new socket, or SOCKET_BAD; libcurl calls it for each address it tries."""
        family, kind, protocol, where = address
        refused = self._refusal(family, where)
        if refused is not None:
            if not self._has_dialled:
                self.failure = refused
            return pycurl.SOCKET_BAD
        try:
            opened = socket.socket(family, kind, protocol)
        except OSError as err:
            reason = f"no socket: {err.strerror}; raise `ulimit -n` or lower fetch.connections"
            self.failure = FetchError(ErrorKind.INTERNAL, reason)
            return pycurl.SOCKET_BAD
        # Another address of the same name may have been refused before. This one is dialled, so it counts.
        self._has_dialled, self.failure = True, None
        self._watchdog.dialled(opened.fileno(), DialledSocket(self._host, where[:2]))
        return opened.detach()

    def _refusal(self, family: int, where: Any) -> FetchError | None:
        """Return why an address is not dialled, None if it may be."""
        if self._proxy:
            return None  # this is the address of the operator's proxy, which is mostly in a private network
        is_internet = family in (socket.AF_INET, socket.AF_INET6)
        reason = self._guard.refusal(where[0], self._host) if is_internet else "not IP"
        if reason is not None:
            return FetchError(ErrorKind.FORBIDDEN_ADDRESS, reason)
        reason = self._watchdog.refusal(where[:2])
        return FetchError(ErrorKind.STALLED, reason) if reason is not None else None
