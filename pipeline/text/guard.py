"""Parsing that cannot hang, exhaust the memory or crash the crawl: it is done in a helper that may die.

Every document goes through the helper.  To send only those that look dangerous would be cheaper by a tenth
of a millisecond a page, but danger has no look: nesting is one way to make lexbor quadratic, attributes are
another, PDF has its own.  In return the caller can go on fetching while the helper parses.

A document that ends the helper is tried once more, in a new helper, with a parser that finds less and needs
less.  The answers come in the order of the documents.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections import deque
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.text.document import Document, Outcome, Parsed, Rules, parse_document, salvage_document
from crawlctl.pipeline.text.helper import (
    ANSWER_FRAME,
    OUT_OF_MEMORY,
    REQUEST_FRAME,
    RETIRED,
    Request,
    start_helper,
)
from crawlctl.pipeline.text.sniff import sniff

if TYPE_CHECKING:
    from types import TracebackType

    from crawlctl.pipeline.text.helper import Parse, Salvage

# Documents the helper has or finds in its pipe, so that it need not wait for the next one.
_AHEAD = 4
# How much longer than the limit of CPU time a helper may take on the clock: it may share its core with many.
_PATIENCE = 10
_READ_BYTES = 1 << 17


class Guard:
    """Parses documents in a helper process; use it as a context manager, in one thread."""

    def __init__(
        self, rules: Rules | None = None, parse: Parse = parse_document, salvage: Salvage = salvage_document
    ) -> None:
        self._rules = rules or Rules()
        self._parse, self._salvage = parse, salvage
        self._waiting: deque[Request] = deque()
        self._sent: deque[Request] = deque()
        self._finished: deque[Parsed] = deque()
        self._outgoing: deque[memoryview] = deque()
        self._incoming = bytearray()
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Parsed)
        self._patience = self._rules.settings.time_limit * _PATIENCE
        self._deadline = 0.0
        self._closed = False
        self._helper = start_helper(self._rules, parse, salvage)

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """Return how many documents were submitted and not collected."""
        return len(self._waiting) + len(self._sent) + len(self._finished)

    def fileno(self) -> int:
        """Return what becomes readable when an answer comes; ask anew after a `collect`, helpers change."""
        return self._helper.answers

    def close(self) -> None:
        """End the helper; documents that were not collected are dropped."""
        if not self._closed:
            self._closed = True
            self._helper.bury()

    def parse(self, document: Document) -> Parsed:
        """Return what is in one document, when no other is under way."""
        if len(self):
            raise ValueError("other documents are under way; collect them first, or submit this one too")
        self.submit(document)
        while not (answers := self.collect(self._patience)):
            pass
        return answers[0]

    def submit(self, document: Document) -> None:
        """Have a document parsed; `collect` returns the answer."""
        self._waiting.append(Request(document))
        self._send()

    def collect(self, timeout: float = 0.0) -> list[Parsed]:
        """Return the answers that are there, waiting for the first one at most `timeout` seconds."""
        end = time.monotonic() + timeout
        while True:
            self._send()
            self._receive()
            remaining = min(end, self._deadline) - time.monotonic()
            if self._finished or not self._sent:
                break
            if time.monotonic() >= self._deadline:
                self._replace_helper(self._helper.bury(), Outcome.TIMEOUT)
            elif remaining <= 0:
                break
            else:
                writers = [self._helper.requests] if self._outgoing else []
                select.select([self._helper.answers], writers, [], remaining)
        found = list(self._finished)
        self._finished.clear()
        return found

    def _send(self) -> None:
        while self._waiting and len(self._sent) < _AHEAD:
            request = self._waiting.popleft()
            if not self._sent:
                self._deadline = time.monotonic() + self._patience
            self._sent.append(request)
            self._outgoing.extend(self._framed(request))
        while self._outgoing:
            try:
                written = os.writev(self._helper.requests, list(self._outgoing))
            except (BlockingIOError, BrokenPipeError):
                return  # the pipe is full, or the helper has died and the other pipe will tell
            while self._outgoing and written >= len(self._outgoing[0]):
                written -= len(self._outgoing.popleft())
            if written:
                self._outgoing[0] = self._outgoing[0][written:]

    def _framed(self, request: Request) -> tuple[memoryview, memoryview]:
        """Return a request as it goes through the pipe; the body is not copied."""
        bare = Request(msgspec.structs.replace(request.document, body=b""), request.cause)
        head, body = self._encoder.encode(bare), request.document.body
        return memoryview(REQUEST_FRAME.pack(len(head), len(body)) + head), memoryview(body)

    def _receive(self) -> None:
        while True:
            try:
                data = os.read(self._helper.answers, _READ_BYTES)
            except BlockingIOError:
                return
            if not data:
                code = self._helper.await_end()
                self._replace_helper(code, _verdict(code))
                return
            self._incoming += data
            self._take_answers()

    def _take_answers(self) -> None:
        while len(self._incoming) >= ANSWER_FRAME.size:
            end = ANSWER_FRAME.size + ANSWER_FRAME.unpack_from(self._incoming)[0]
            if len(self._incoming) < end:
                return
            self._finished.append(self._decoder.decode(memoryview(self._incoming)[ANSWER_FRAME.size : end]))
            del self._incoming[:end]
            self._sent.popleft()
            self._deadline = time.monotonic() + self._patience

    def _replace_helper(self, code: int, cause: Outcome) -> None:
        """Start a new helper, blame the death of the old one on what it was at, and resend the others."""
        self._outgoing.clear()
        self._incoming.clear()
        self._helper = start_helper(self._rules, self._parse, self._salvage)
        lost = list(self._sent)
        self._sent.clear()
        if lost and code != RETIRED:
            blamed = lost.pop(0)
            if blamed.cause is None:
                lost.insert(0, Request(blamed.document, cause))
            else:
                kind = sniff(blamed.document.content_type, blamed.document.body)
                self._finished.append(Parsed(blamed.cause, kind))
        self._waiting.extendleft(reversed(lost))
        self._send()


def _verdict(code: int) -> Outcome:
    if code == -signal.SIGPROF:
        return Outcome.TIMEOUT
    # The kernel kills whom it finds when memory runs out.
    if code in (OUT_OF_MEMORY, -signal.SIGKILL):
        return Outcome.MEMORY
    return Outcome.CRASH
