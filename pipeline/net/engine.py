"""Hundreds of transfers at once in one thread, by libcurl.

libcurl tells us which sockets to watch and we tell it which are ready, so a quiet connection costs nothing
and their number is not bound by select(), as it is in the simpler perform/select loop of pycurl.

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

from crawlctl.pipeline.net.addresses import AddressGuard
from crawlctl.pipeline.net.answer import Answer, ErrorKind, FetchError, Request
from crawlctl.pipeline.net.asking import bound_look_ups
from crawlctl.pipeline.net.memory import BodyBudget
from crawlctl.pipeline.net.redirects import checked_url
from crawlctl.pipeline.net.transfer import Transfer

if TYPE_CHECKING:
    from types import TracebackType

    from crawlctl.pipeline.config.fetch import FetchSettings


class Engine:
    """Takes requests and gives answers as they come in; follows, retries and delays nothing."""

    def __init__(self, settings: FetchSettings, guard: AddressGuard | None = None) -> None:
        bound_look_ups()
        self._settings = settings
        self._guard = AddressGuard(settings.allowed_networks) if guard is None else guard
        self._budget = BodyBudget(settings.memory)
        self._waiting: deque[tuple[Request, str]] = deque()
        self._active: dict[pycurl.Curl, Transfer] = {}
        # Made here already: a bad setting shows at once, and not with the first page.
        self._idle = [Transfer(settings, self._guard, self._budget)]
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
        # As many as are busy may lie idle, for hosts whose turn comes round again.
        self._multi.setopt(pycurl.M_MAXCONNECTS, 2 * settings.connections)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._timeouts.append)

    @property
    def in_flight(self) -> int:
        """How many requests have not been answered yet."""
        return len(self._waiting) + len(self._active) + len(self._answers)

    def submit(self, request: Request) -> None:
        """Take a request; it begins when one of fetch.connections is free and someone polls."""
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
        self._multi.close()
        self._selector.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin_waiting(self) -> None:
        while self._waiting and len(self._active) < self._settings.connections:
            request, url = self._waiting.popleft()
            if not self._idle:
                self._idle.append(Transfer(self._settings, self._guard, self._budget))
            transfer = self._idle.pop()
            transfer.start(request, url)
            self._multi.add_handle(transfer.curl)
            self._active[transfer.curl] = transfer

    def _wait(self, deadline: float) -> None:
        """Let libcurl work on what is ready before the deadline."""
        until = min(deadline, self._next_timeout())
        ready = self._selector.select(max(0.0, until - time.monotonic()))
        for key, events in ready:
            # The bits of selectors and libcurl are the same: 1 to read, 2 to write.
            self._multi.socket_action(key.fd, events)
        if self._next_timeout() <= time.monotonic():
            self._timer = math.inf
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)

    def _next_timeout(self) -> float:
        """Return when libcurl wants to be called even if no socket is ready."""
        if self._timeouts:
            milliseconds = self._timeouts.pop()
            self._timer = math.inf if milliseconds < 0 else time.monotonic() + milliseconds / 1000
        return self._timer

    def _collect(self) -> None:
        """Turn ended transfers into answers and begin others in their place."""
        more = 1
        while more:
            more, good, bad = self._multi.info_read()
            for curl in good:
                self._answers.append(self._release(curl).finish(0, ""))
            for curl, code, message in bad:
                self._answers.append(self._release(curl).finish(code, message))
        self._begin_waiting()

    def _release(self, curl: pycurl.Curl) -> Transfer:
        transfer = self._active.pop(curl)
        self._multi.remove_handle(curl)
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
