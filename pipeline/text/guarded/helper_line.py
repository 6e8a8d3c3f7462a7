"""A helper process and its documents: sends requests to it, and reads its answers."""

from __future__ import annotations

import os
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from crawlctl.pipeline.text.guarded.helper import ANSWER_FRAME, REQUEST_FRAME, ParseRequest

if TYPE_CHECKING:
    import select
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.text.guarded.helper import Helper, HelperEnd

# How many documents a helper has: one that it parses, the rest in its pipe, so that it never has to wait.
AHEAD = 4
_READ_BYTES = 1 << 17
_POLLIN, _POLLOUT = 1, 4  # select.POLLIN and POLLOUT; the values are those of all Unix systems


class Job(NamedTuple):
    """A document that waits for a helper, or is being parsed by a helper."""

    tag: Any
    host: str
    request: ParseRequest
    seconds: float = 0.0  # CPU seconds of failed attempts
    was_killed: bool = False  # another process killed its helper once


class JobAnswer(NamedTuple):
    """The answer of a helper to a job: the packed result, and the CPU seconds that it took."""

    job: Job
    packed: bytes
    seconds: float


class HelperLine:
    """The current helper and its jobs, in the order in which it does them; an ended helper is replaced."""

    def __init__(self, start: Callable[[], Helper], longest_wait: float) -> None:
        self.jobs: deque[Job] = deque()
        self.end: HelperEnd | None = None  # how the helper ended, if it has ended by itself
        self._start = start
        self._longest_wait = longest_wait
        self._deadline = 0.0
        self._outgoing: deque[memoryview] = deque()
        self._incoming = bytearray()
        self._encoder = msgspec.msgpack.Encoder()
        self._seconds = 0.0  # CPU seconds of the helper up to its last answer
        self.helper = start()

    @property
    def has_room(self) -> bool:
        """Whether the helper may get another job."""
        return len(self.jobs) < AHEAD

    @property
    def deadline(self) -> float:
        """The time by which the helper should have answered (monotonic clock); infinite if it has no job."""
        return self._deadline if self.jobs else float("inf")

    def has_worked(self, seconds: float) -> bool:
        """Return whether the helper has had its current job for at least `seconds` on the clock."""
        return bool(self.jobs) and time.monotonic() >= self._deadline - self._longest_wait + seconds

    def add(self, job: Job) -> None:
        """Give the helper another job; `flush` sends it."""
        if not self.jobs:
            self._deadline = time.monotonic() + self._longest_wait
        self.jobs.append(job)
        self._outgoing.extend(self._framed(job.request))

    def flush(self) -> None:
        """Write as many bytes into the pipe as fit."""
        while self._outgoing:
            try:
                written = os.writev(self.helper.requests, list(self._outgoing))
            except (BlockingIOError, BrokenPipeError):
                return  # the pipe is full, or the helper has died, which `receive` will find out
            while self._outgoing and written >= len(self._outgoing[0]):
                written -= len(self._outgoing.popleft())
            if written:
                self._outgoing[0] = self._outgoing[0][written:]

    def watch(self, pipes: select.poll) -> None:
        """Register the events to wait for: an answer of the helper, and room in its pipe."""
        if self.jobs:
            pipes.register(self.helper.answers, _POLLIN)
        if self._outgoing:
            pipes.register(self.helper.requests, _POLLOUT)

    def receive(self) -> Iterator[JobAnswer]:
        """Yield the answers that have arrived; sets `end` if the helper has ended."""
        while True:
            try:
                data = os.read(self.helper.answers, _READ_BYTES)
            except BlockingIOError:
                return
            if not data:
                self.end = self.helper.await_end()
                return
            self._incoming += data
            while (answer := self._next_answer()) is not None:
                yield answer

    def _next_answer(self) -> JobAnswer | None:
        if len(self._incoming) < ANSWER_FRAME.size:
            return None
        size, seconds, helper_seconds = ANSWER_FRAME.unpack_from(self._incoming)
        end = ANSWER_FRAME.size + size
        if len(self._incoming) < end:
            return None
        packed = bytes(memoryview(self._incoming)[ANSWER_FRAME.size : end])
        del self._incoming[:end]
        self._seconds = helper_seconds
        self._deadline = time.monotonic() + self._longest_wait
        return JobAnswer(self.jobs.popleft(), packed, seconds)

    def replace(self, end: HelperEnd) -> tuple[list[Job], float]:
        """Start a new helper; return the jobs of the old helper, and its CPU seconds for the first job."""
        spent = max(0.0, end.seconds - self._seconds)
        lost = list(self.jobs)
        self.jobs.clear()
        self._outgoing.clear()
        self._incoming.clear()
        self._seconds, self.end = 0.0, None
        self.helper = self._start()
        return lost, spent

    def _framed(self, request: ParseRequest) -> tuple[memoryview, memoryview]:
        """Return a request as the pieces to write into the pipe; the body is not copied."""
        bare = msgspec.structs.replace(request, document=msgspec.structs.replace(request.document, body=b""))
        head, body = self._encoder.encode(bare), request.document.body
        return memoryview(REQUEST_FRAME.pack(len(head), len(body)) + head), memoryview(body)
