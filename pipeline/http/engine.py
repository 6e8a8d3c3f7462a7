"""The fetch engine: runs hundreds of libcurl transfers at once in one thread.

libcurl says which sockets to watch, and the engine tells it which sockets are ready. So a quiet connection
costs nothing, and select()'s limit of 1,024 sockets does not apply, as it would in the simpler perform/select
loop of pycurl.

libcurl enforces the time-outs, with two exceptions: calls that do not return (watchdog.py), and transfers
that wait for memory (body_budget.py), because that wait is our doing and not the server's.

An engine belongs to the process that created it. On Ctrl-C `poll` raises KeyboardInterrupt; close the engine
then.
"""

from __future__ import annotations

import math
import os
import selectors
import time
from collections import deque
from heapq import nsmallest
from operator import itemgetter
from typing import TYPE_CHECKING

import pycurl

from crawlctl.pipeline.http.addresses import AddressGuard
from crawlctl.pipeline.http.body_budget import BodyBudget
from crawlctl.pipeline.http.curl_options import bound_look_ups, common_options
from crawlctl.pipeline.http.exchange import Answer, ErrorKind, FetchError, Request
from crawlctl.pipeline.http.open_files import make_room
from crawlctl.pipeline.http.redirects import checked_url
from crawlctl.pipeline.http.tls_renegotiation import refuse_renegotiation
from crawlctl.pipeline.http.transfer import SharedParts, Transfer
from crawlctl.pipeline.http.watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from crawlctl.pipeline.config.settings import FetchSettings

_LONGEST_CALL = 2.0  # seconds in libcurl for one socket; a normal server takes milliseconds
_MEMORY_PATIENCE = 5.0  # seconds that large bodies wait for memory before the slowest one is cut off
_LATENESS_TICK = 0.25  # seconds between two checks of transfers that have waited for memory


class Engine:
    """Takes requests and returns answers as they arrive; it follows no redirects and repeats no request.

    `working_on` is called with the name of a host before each call of libcurl for a socket of that host, and
    with "" after the last such call. So the watching process knows on which host an engine hangs.
    """

    def __init__(
        self,
        settings: FetchSettings,
        guard: AddressGuard | None = None,
        working_on: Callable[[str], None] | None = None,
    ) -> None:
        bound_look_ups()
        refuse_renegotiation()
        room = make_room(settings.connections)
        self._settings = settings
        self._working_on = working_on
        # The most transfers at the same time: fetch.connections, or fewer if the system allows fewer open
        # files.
        self.connections = room.transfers
        self._guard = AddressGuard(settings.allowed_networks) if guard is None else guard
        patience = min(_MEMORY_PATIENCE, settings.min_speed_span or _MEMORY_PATIENCE)
        self._budget: BodyBudget[Transfer] = BodyBudget(settings.memory, self.connections, patience)
        self._watchdog = Watchdog(min(_LONGEST_CALL, settings.timeout), self._late_hosts)
        # Transfers that have just been paused for lack of memory, and all that were paused before.
        self._paused: list[Transfer] = []
        self._have_waited: set[Transfer] = set()
        self._shared = SharedParts(
            *(settings, self._guard, self._budget, self._watchdog, self._paused),
            options=tuple(common_options(settings)),
        )
        self._waiting: deque[tuple[Request, str]] = deque()
        self._active: dict[pycurl.Curl, Transfer] = {}
        # One transfer is created now, so that a bad setting fails here and not with the first page.
        self._idle = [Transfer(self._shared)]
        self._answers: list[Answer] = []
        self._selector = selectors.DefaultSelector()
        self._watched: set[int] = set()
        # The last time-out in milliseconds that libcurl asked for. The callback is a C method (deque.append):
        # Ctrl-C inside a Python callback, while a handle is added, would surface as an error of pycurl.
        self._timeouts: deque[int] = deque(maxlen=1)
        self._timer = math.inf
        self._owner = os.getpid()
        self._closed = False
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, room.connections)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._timeouts.append)

    @property
    def in_flight(self) -> int:
        """The number of requests whose answer has not been polled yet."""
        return len(self._waiting) + len(self._active) + len(self._answers)

    def oldest(self, most: int) -> list[tuple[str, float]]:
        """Return the URLs of the transfers that have run longest, and when each began, in UTC seconds."""
        return nsmallest(most, ((one.url, one.started) for one in self._active.values()), key=itemgetter(1))

    def submit(self, request: Request) -> None:
        """Queue a request; it starts in `poll`, as soon as a connection is free."""
        self._require_usable()
        url, error = checked_url(request.url)
        if error is None and self._settings.proxy and (refusal := self._guard.refusal_of_url(url)):
            error = FetchError(ErrorKind.FORBIDDEN_ADDRESS, refusal)
        if error is None:
            self._waiting.append((request, url))
        else:
            self._answers.append(Answer(request=request, url=url, started=time.time(), error=error))

    def poll(self, timeout: float = 1.0) -> list[Answer]:
        """Return the answers that arrived; wait at most `timeout` seconds for the first one."""
        self._require_usable()
        deadline = time.monotonic() + timeout
        self._begin_waiting()
        while not self._answers:
            self._wait(deadline)
            self._collect()
            if time.monotonic() >= deadline:
                break
        answers, self._answers = self._answers, []
        return answers

    def cancel_all(self) -> list[Request]:
        """Stop all transfers and return their requests; answers that arrived before can still be polled."""
        self._require_usable()
        waiting = [request for request, _ in self._waiting]
        self._waiting.clear()
        given_up = [self._release(curl) for curl in list(self._active)]
        for transfer in given_up:
            transfer.stop()
        return [transfer.request for transfer in given_up] + waiting

    def close(self) -> None:
        """Close all connections; answers that were not polled are lost."""
        if self._closed:
            return
        self._require_usable()
        self._closed = True
        for curl in list(self._active):
            self._release(curl)
        for transfer in self._idle:
            transfer.close()
        self._watchdog.begin()
        self._multi.close()
        self._watchdog.end()
        self._watchdog.close()
        self._selector.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin_waiting(self) -> None:
        while self._waiting and len(self._active) < self.connections:
            self._watchdog.start()
            request, url = self._waiting.popleft()
            transfer = self._idle.pop() if self._idle else Transfer(self._shared)
            transfer.start(request, url)
            self._multi.add_handle(transfer.curl)
            self._active[transfer.curl] = transfer

    def _wait(self, deadline: float) -> None:
        """Let libcurl work on the sockets that become ready before the deadline."""
        until = min(deadline, self._next_timeout(), self._next_look())
        ready = self._selector.select(max(0.0, until - time.monotonic()))
        for key, events in ready:
            # selectors and libcurl use the same bits: 1 to read, 2 to write.
            self._act(key.fd, events)
        if ready and self._working_on is not None:
            self._working_on("")
        if self._next_timeout() <= time.monotonic():
            self._timer = math.inf
            self._act(pycurl.SOCKET_TIMEOUT, 0)

    def _act(self, fd: int, events: int) -> None:
        """Let libcurl work on a socket, or on its timers (SOCKET_TIMEOUT)."""
        dialled = self._watchdog.begin(fd)
        if self._working_on is not None:
            # For an unknown socket we name no host; the host of the call before would be wrong.
            self._working_on(dialled.host if dialled is not None else "")
        try:
            self._multi.socket_action(fd, events)
        finally:
            self._watchdog.end()

    def _next_timeout(self) -> float:
        """Return the time at which libcurl must be called even if no socket is ready."""
        if self._timeouts:
            milliseconds = self._timeouts.pop()
            self._timer = math.inf if milliseconds < 0 else time.monotonic() + milliseconds / 1000
        return self._timer

    def _next_look(self) -> float:
        """Return the time of the next check of transfers that wait for memory or have waited."""
        if not self._have_waited:
            return math.inf
        return min(time.monotonic() + _LATENESS_TICK, self._budget.cut_at)

    def _collect(self) -> None:
        """Turn ended transfers into answers and start queued requests in their place."""
        stalled = self._take_stalls() if self._watchdog.stalls else {}
        more = 1
        while more:
            more, good, bad = self._multi.info_read()
            for curl in good:
                self._answers.append(self._release(curl).finish(0, ""))
            for curl, code, message in bad:
                if (error := stalled.get(self._active[curl].host)) is not None:
                    self._active[curl].break_off(error)
                self._answers.append(self._release(curl).finish(code, message))
        if stalled:
            self._end_stalled(stalled)
        if self._paused or self._have_waited:
            self._mind_waiting()
        self._begin_waiting()

    def _end_stalled(self, stalled: dict[str, FetchError]) -> None:
        """Stop all other transfers of hosts that stalled; libcurl might dial these hosts once more."""
        for transfer in [one for one in self._active.values() if one.host in stalled]:
            self._give_up(transfer, stalled[transfer.host])

    def _take_stalls(self) -> dict[str, FetchError]:
        """Return the hosts whose sockets the watchdog has shut down, with the error for their transfers."""
        busy = f"libcurl busy for more than {min(_LONGEST_CALL, self._settings.timeout):g} s in one call"
        found: dict[str, FetchError] = {}
        while self._watchdog.stalls:
            hosts, is_certain = self._watchdog.stalls.popleft()
            for host in hosts:
                if is_certain:
                    found[host] = FetchError(ErrorKind.STALLED, f"{host} kept {busy}")
                else:
                    reason = f"broken off with all others, because an unknown server kept {busy}"
                    found.setdefault(host, FetchError(ErrorKind.INTERNAL, reason))
        return found

    def _mind_waiting(self) -> None:
        """Apply fetch.timeout to transfers that waited for memory; stop transfers that block the memory."""
        for transfer in self._paused:
            if self._active.get(transfer.curl) is transfer:
                transfer.lift_timeout()
                self._have_waited.add(transfer)
        self._paused.clear()
        reason = "a large body that arrived so slowly that others had to wait for its memory (fetch.memory)"
        for slow in self._budget.to_cut_off():
            self._give_up(slow, FetchError(ErrorKind.TOO_SLOW, reason))
        now = time.monotonic()
        for transfer in [one for one in self._have_waited if one.is_late(now)]:
            reason = f"not finished after {self._settings.timeout}, waits for memory not counted"
            self._give_up(transfer, FetchError(ErrorKind.TIMEOUT, reason))

    def _give_up(self, transfer: Transfer, error: FetchError) -> None:
        transfer.break_off(error)
        self._answers.append(self._release(transfer.curl).finish(pycurl.E_ABORTED_BY_CALLBACK, ""))

    def _late_hosts(self) -> set[str]:
        """Return the hosts of transfers over fetch.timeout; the watchdog calls it from its thread."""
        now = time.monotonic()
        return {transfer.host for transfer in list(self._active.values()) if transfer.is_late(now)}

    def _release(self, curl: pycurl.Curl) -> Transfer:
        transfer = self._active.pop(curl)
        self._watchdog.begin()
        self._multi.remove_handle(curl)
        self._watchdog.end()
        self._have_waited.discard(transfer)
        self._idle.append(transfer)
        return transfer

    def _watch(self, what: int, fd: int, multi: pycurl.CurlMulti, data: object) -> None:
        """Watch a socket for the events that libcurl names, or stop watching it; libcurl calls it."""
        if what == pycurl.POLL_REMOVE:
            self._watched.remove(fd)
            self._selector.unregister(fd)
        elif fd in self._watched:
            self._selector.modify(fd, what)
        else:
            self._watched.add(fd)
            self._selector.register(fd, what)

    def _require_usable(self) -> None:
        # Two processes that share a connection would read each other's answers.
        if os.getpid() != self._owner:
            raise RuntimeError("an engine cannot be used after a fork; create one in the new process")
        if self._closed:
            raise RuntimeError("the engine is closed; create a new one")
