"""Hundreds of transfers at once in one thread, by libcurl.

libcurl tells us which sockets to watch and we tell it which are ready, so a quiet connection costs nothing
and their number is not bound by select(), as it is in the simpler perform/select loop of pycurl.

libcurl keeps the time-outs, with two exceptions: calls that do not return (watchdog.py), and transfers that
wait for memory (memory.py), for that time is ours and not the server's.

An engine belongs to the process that made it.  Ctrl-C leaves `poll` as KeyboardInterrupt; close it then.
"""

from __future__ import annotations

import math
import os
import selectors
import time
from collections import deque
from typing import TYPE_CHECKING

import pycurl

from crawlctl.pipeline.http.addresses import AddressGuard
from crawlctl.pipeline.http.body_budget import BodyBudget
from crawlctl.pipeline.http.curl_options import bound_look_ups
from crawlctl.pipeline.http.exchange import Answer, ErrorKind, FetchError, Request
from crawlctl.pipeline.http.open_files import make_room
from crawlctl.pipeline.http.redirects import checked_url
from crawlctl.pipeline.http.tls_renegotiation import refuse_renegotiation
from crawlctl.pipeline.http.transfer import Shared, Transfer
from crawlctl.pipeline.http.watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from crawlctl.pipeline.config.settings import FetchSettings

_LONGEST_CALL = 2.0  # seconds in libcurl for one socket; a good server takes milliseconds
_MEMORY_PATIENCE = 5.0  # seconds in which large bodies wait in vain before the slowest is cut off
_LATENESS_TICK = 0.25  # seconds between two looks at transfers that have waited


class Engine:
    """Takes requests and gives answers as they come in; follows, retries and delays nothing.

    `working_on` is called with the name of a host before each call of libcurl for a socket of that host, and
    with an empty one after the last: whoever finds the engine stuck can tell over whom.
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
        # Transfers under way at once: fetch.connections, or fewer if the system opens fewer files.
        self.connections = room.transfers
        self._guard = AddressGuard(settings.allowed_networks) if guard is None else guard
        patience = min(_MEMORY_PATIENCE, settings.min_speed_span or _MEMORY_PATIENCE)
        self._budget: BodyBudget[Transfer] = BodyBudget(settings.memory, self.connections, patience)
        self._watchdog = Watchdog(min(_LONGEST_CALL, settings.timeout), self._late_hosts)
        # Transfers that have just been paused for want of memory, and those that ever were.
        self._paused: list[Transfer] = []
        self._have_waited: set[Transfer] = set()
        self._shared = Shared(settings, self._guard, self._budget, self._watchdog, self._paused)
        self._waiting: deque[tuple[Request, str]] = deque()
        self._active: dict[pycurl.Curl, Transfer] = {}
        # Made here already: a bad setting shows at once, and not with the first page.
        self._idle = [Transfer(self._shared)]
        self._answers: list[Answer] = []
        self._selector = selectors.DefaultSelector()
        self._watched: set[int] = set()
        # In milliseconds, as libcurl last said.  A method of C takes it down: Ctrl-C in one of Python, while
        # a handle is added, would make pycurl raise an error of its own instead.
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
        """How many requests have not been answered yet."""
        return len(self._waiting) + len(self._active) + len(self._answers)

    def submit(self, request: Request) -> None:
        """Take a request; it begins when one of the connections is free and someone polls."""
        self._require_usable()
        url, error = checked_url(request.url)
        if error is None and self._settings.proxy and (refusal := self._guard.refusal_of_url(url)):
            error = FetchError(ErrorKind.FORBIDDEN_ADDRESS, refusal)
        if error is None:
            self._waiting.append((request, url))
        else:
            self._answers.append(Answer(request=request, url=url, started=time.time(), error=error))

    def poll(self, timeout: float = 1.0) -> list[Answer]:
        """Wait for answers, at most `timeout` seconds; an empty list means that there were none."""
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

    def cancel(self, request: Request) -> bool:
        """Give up a request; whether it was still under way, and so will have no answer."""
        self._require_usable()
        for curl, transfer in self._active.items():
            if transfer.request is request:
                self._release(curl).stop()
                self._begin_waiting()
                return True
        queued = next((entry for entry in self._waiting if entry[0] is request), None)
        if queued is not None:
            self._waiting.remove(queued)
        return queued is not None

    def cancel_all(self) -> list[Request]:
        """Give up all that is under way and return its requests; answers that came in can still be polled."""
        self._require_usable()
        waiting = [request for request, _ in self._waiting]
        self._waiting.clear()
        given_up = [self._release(curl) for curl in list(self._active)]
        for transfer in given_up:
            transfer.stop()
        return [transfer.request for transfer in given_up] + waiting

    def close(self) -> None:
        """Close every connection; answers not polled yet are lost."""
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
        """Let libcurl work on what is ready before the deadline."""
        until = min(deadline, self._next_timeout(), self._next_look())
        ready = self._selector.select(max(0.0, until - time.monotonic()))
        for key, events in ready:
            # The bits of selectors and libcurl are the same: 1 to read, 2 to write.
            self._act(key.fd, events)
        if ready and self._working_on is not None:
            self._working_on("")
        if self._next_timeout() <= time.monotonic():
            self._timer = math.inf
            self._act(pycurl.SOCKET_TIMEOUT, 0)

    def _act(self, fd: int, events: int) -> None:
        """Let libcurl work on a socket, or on whatever it has set itself a time for."""
        dialled = self._watchdog.begin(fd)
        if self._working_on is not None:
            # Of a socket that is not known no host is told, and least of all that of the call before.
            self._working_on(dialled.host if dialled is not None else "")
        try:
            self._multi.socket_action(fd, events)
        finally:
            self._watchdog.end()

    def _next_timeout(self) -> float:
        """Return when libcurl wants to be called even if no socket is ready."""
        if self._timeouts:
            milliseconds = self._timeouts.pop()
            self._timer = math.inf if milliseconds < 0 else time.monotonic() + milliseconds / 1000
        return self._timer

    def _next_look(self) -> float:
        """Return when transfers that wait for memory, or have waited, are to be looked at."""
        if not self._have_waited:
            return math.inf
        return min(time.monotonic() + _LATENESS_TICK, self._budget.cut_at)

    def _collect(self) -> None:
        """Turn ended transfers into answers and begin others in their place."""
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
        """Give up what is still under way with hosts that stalled; libcurl might dial them once more."""
        for transfer in [one for one in self._active.values() if one.host in stalled]:
            self._give_up(transfer, stalled[transfer.host])

    def _take_stalls(self) -> dict[str, FetchError]:
        """Return the hosts whose sockets the watchdog has shut down, and what their transfers end with."""
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
        """Keep the time of transfers that wait for memory or have waited, and cut off who holds it."""
        for transfer in self._paused:
            if self._active.get(transfer.curl) is transfer:
                transfer.lift_timeout()
                self._have_waited.add(transfer)
        self._paused.clear()
        reason = "a large body that came so slowly that others had to wait for its memory (fetch.memory)"
        for slow in self._budget.to_cut_off():
            self._give_up(slow, FetchError(ErrorKind.TOO_SLOW, reason))
        now = time.monotonic()
        for transfer in [one for one in self._have_waited if one.is_late(now)]:
            reason = f"not through after {self._settings.timeout}, waiting for memory not counted"
            self._give_up(transfer, FetchError(ErrorKind.TIMEOUT, reason))

    def _give_up(self, transfer: Transfer, error: FetchError) -> None:
        transfer.break_off(error)
        self._answers.append(self._release(transfer.curl).finish(pycurl.E_ABORTED_BY_CALLBACK, ""))

    def _late_hosts(self) -> set[str]:
        """Return the hosts of transfers that have had their time; called by the watchdog."""
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
        """Do as libcurl says: watch a socket, for other events than before, or no longer."""
        if what == pycurl.POLL_REMOVE:
            self._watched.remove(fd)
            self._selector.unregister(fd)
        elif fd in self._watched:
            self._selector.modify(fd, what)
        else:
            self._watched.add(fd)
            self._selector.register(fd, what)

    def _require_usable(self) -> None:
        # Two processes on one connection would read each other's answers.
        if os.getpid() != self._owner:
            raise RuntimeError("an engine cannot be used after a fork; make one in the new process")
        if self._closed:
            raise RuntimeError("the engine is closed; make a new one")
