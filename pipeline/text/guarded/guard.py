"""Parsing that cannot hang, exhaust the memory or crash the crawl: it is done in a helper that may die.

Every document goes through the helper, and every sitemap.  To send only those that look dangerous would be
cheaper by a tenth of a millisecond a page, but danger has no look: nesting is one way to make lexbor
quadratic, attributes are another, PDF has its own.  In return the caller can go on fetching while the helper
parses.

A document that ends the helper is tried once more, in a new helper, with a parser that finds less and needs
less.  A helper that somebody else has killed says nothing about the document it was at: that is parsed once
more in full.  Hosts take turns by the CPU time their documents take (fair_queue.py), so answers do not come
in the order of the documents.
"""

from __future__ import annotations

import math
import os
import select
import signal
import time
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from crawlctl.pipeline.robots.sitemap_reader import SitemapContent
from crawlctl.pipeline.text.documents.document import (
    FetchedDocument,
    Parsed,
    ParseOutcome,
    ParseRules,
    parse_document,
    salvage_document,
)
from crawlctl.pipeline.text.documents.sniff import sniff
from crawlctl.pipeline.text.guarded.fair_queue import SLOW, FairQueue
from crawlctl.pipeline.text.guarded.helper import (
    ANSWER_FRAME,
    OUT_OF_MEMORY,
    REQUEST_FRAME,
    RETIRED,
    ParseRequest,
    start_helper,
)
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from types import TracebackType

    from crawlctl.pipeline.text.guarded.helper import HelperEnd, Parse, Salvage

# Documents that are sent ahead: the one the helper is at and those in its pipe, so that it never has to wait.
_AHEAD = 4
# How much longer than the limit of CPU time a helper may take on the clock: it may share its core with many.
_PATIENCE = 10
_READ_BYTES = 1 << 17
# Deaths that are none of our doing: we send no such signal to a helper whose answers we wait for.
_FROM_OUTSIDE = frozenset({-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP})


class ParseAnswer(NamedTuple):
    """What became of a document, and the CPU seconds it took; the tag is what it was submitted with."""

    tag: Any
    result: Parsed | SitemapContent
    seconds: float


class _Job(NamedTuple):
    """A document on its way."""

    tag: Any
    host: str
    request: ParseRequest
    seconds: float = 0.0  # of CPU time that failed attempts took
    was_killed: bool = False  # its helper, from outside


class Guard:
    """Parses documents in a helper process; use it as a context manager, in one thread."""

    def __init__(
        self,
        rules: ParseRules | None = None,
        parse: Parse = parse_document,
        salvage: Salvage = salvage_document,
    ) -> None:
        self._rules = rules or ParseRules()
        self._parse, self._salvage = parse, salvage
        self._waiting: FairQueue[_Job] = FairQueue(_AHEAD)
        self._again: deque[_Job] = deque()  # were with a helper that has ended
        self._sent: deque[_Job] = deque()
        self._in_pipe: Counter[str] = Counter()  # of those sent, by host
        self._finished: list[ParseAnswer] = []
        self._outgoing: deque[memoryview] = deque()
        self._incoming = bytearray()
        self._encoder = msgspec.msgpack.Encoder()
        self._pages = msgspec.msgpack.Decoder(Parsed)
        self._sitemaps = msgspec.msgpack.Decoder(SitemapContent)
        self._patience = self._rules.settings.time_limit * _PATIENCE
        self._deadline = 0.0
        self._helper_seconds = 0.0  # of CPU time, as the helper told with its last answer
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
        return len(self._waiting) + len(self._again) + len(self._sent) + len(self._finished)

    def close(self) -> None:
        """End the helper; documents that were not collected are dropped."""
        if not self._closed:
            self._closed = True
            self._helper.bury()

    def parse(self, document: FetchedDocument) -> Parsed:
        """Return what is in one document, when no other is under way."""
        if len(self):
            raise ValueError("other documents are under way; collect them first, or submit this one too")
        self.submit(document)
        while not (answers := self.collect(self._patience)):
            pass
        return cast("Parsed", answers[0].result)

    def submit(self, document: FetchedDocument, tag: Any = None, *, is_sitemap: bool = False) -> None:
        """Have a document parsed, or a sitemap read; `collect` returns the answer, with the tag."""
        host = host_of(document.url)
        self._waiting.add(host, _Job(tag, host, ParseRequest(document, is_sitemap=is_sitemap)))
        self._send()

    def drop(self, host: str) -> list[Any]:
        """Give up the documents of a host that the helper has not got yet, and return their tags."""
        return [job.tag for job in self._waiting.drop(host)]

    def interrupt(self, seconds: float = SLOW) -> list[Any]:
        """Take the document that the helper has been at for so long away from it, and return its tag."""
        self._receive()  # else a document whose answer is there would seem to be with the helper
        if not self._sent or time.monotonic() < self._deadline - self._patience + seconds:
            return []
        job = self._sent.popleft()
        end = self._helper.bury()
        self._waiting.charge(job.host, max(seconds, self._since_last_answer(end)))
        self._replace_helper(end, None)
        return [job.tag]

    def collect(self, timeout: float = 0.0) -> list[ParseAnswer]:
        """Return the answers that are there, waiting for the first one at most `timeout` seconds."""
        end = time.monotonic() + timeout
        while True:
            self._send()
            self._receive()
            remaining = min(end, self._deadline) - time.monotonic()
            if self._finished or not self._sent:
                break
            if time.monotonic() >= self._deadline:
                self._replace_helper(self._helper.bury(), ParseOutcome.TIMEOUT)
            elif remaining <= 0:
                break
            else:
                self._await_helper(remaining)
        found, self._finished = self._finished, []
        return found

    def _await_helper(self, seconds: float) -> None:
        """Wait until the helper has an answer, or takes more of what is to be sent."""
        # Not select(): it knows no file numbers from 1,024 on, and connections may have the lower ones.
        pipes = select.poll()
        pipes.register(self._helper.answers, select.POLLIN)
        if self._outgoing:
            pipes.register(self._helper.requests, select.POLLOUT)
        pipes.poll(math.ceil(seconds * 1000))

    def _send(self) -> None:
        while len(self._sent) < _AHEAD and (job := self._next()) is not None:
            if not self._sent:
                self._deadline = time.monotonic() + self._patience
            self._sent.append(job)
            self._in_pipe[job.host] += 1
            self._outgoing.extend(self._framed(job.request))
        while self._outgoing:
            try:
                written = os.writev(self._helper.requests, list(self._outgoing))
            except (BlockingIOError, BrokenPipeError):
                return  # the pipe is full, or the helper has died and the other pipe will tell
            while self._outgoing and written >= len(self._outgoing[0]):
                written -= len(self._outgoing.popleft())
            if written:
                self._outgoing[0] = self._outgoing[0][written:]

    def _next(self) -> _Job | None:
        return self._again.popleft() if self._again else self._waiting.take(self._in_pipe)

    def _framed(self, request: ParseRequest) -> tuple[memoryview, memoryview]:
        """Return a request as it goes through the pipe; the body is not copied."""
        bare = msgspec.structs.replace(request, document=msgspec.structs.replace(request.document, body=b""))
        head, body = self._encoder.encode(bare), request.document.body
        return memoryview(REQUEST_FRAME.pack(len(head), len(body)) + head), memoryview(body)

    def _receive(self) -> None:
        while True:
            try:
                data = os.read(self._helper.answers, _READ_BYTES)
            except BlockingIOError:
                return
            if not data:
                end = self._helper.await_end()
                cause = None if end.code == RETIRED else _verdict(end.code)
                self._replace_helper(end, cause, was_killed=end.code in _FROM_OUTSIDE)
                return
            self._incoming += data
            self._take_answers()

    def _take_answers(self) -> None:
        while len(self._incoming) >= ANSWER_FRAME.size:
            size, seconds, self._helper_seconds = ANSWER_FRAME.unpack_from(self._incoming)
            end = ANSWER_FRAME.size + size
            if len(self._incoming) < end:
                return
            job = self._sent.popleft()
            self._in_pipe[job.host] -= 1
            result = self._decoded(job.request, memoryview(self._incoming)[ANSWER_FRAME.size : end])
            del self._incoming[:end]
            self._waiting.charge(job.host, seconds)
            self._finished.append(ParseAnswer(job.tag, result, job.seconds + seconds))
            self._deadline = time.monotonic() + self._patience

    def _decoded(self, request: ParseRequest, answer: memoryview) -> Parsed | SitemapContent:
        """Return what an answer says; a parser that writes where it should not may have spoilt it."""
        try:
            return (self._sitemaps if request.is_sitemap else self._pages).decode(answer)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            note = f"the answer of the process that parses is damaged: {error}"
            return (
                SitemapContent(problem=note) if request.is_sitemap else Parsed(ParseOutcome.CRASH, note=note)
            )
        finally:
            answer.release()

    def _replace_helper(
        self, end: HelperEnd, cause: ParseOutcome | None, *, was_killed: bool = False
    ) -> None:
        """Start a new helper, blame the end of the old one on what it was at, and resend the others first.

        Without a cause nothing is to blame.
        """
        seconds, self._helper_seconds = self._since_last_answer(end), 0.0
        self._outgoing.clear()
        self._incoming.clear()
        self._in_pipe.clear()
        self._helper = start_helper(self._rules, self._parse, self._salvage)
        lost = list(self._sent)
        self._sent.clear()
        if lost and cause is not None:
            self._blame(lost.pop(0), cause, seconds, was_killed=was_killed)
        self._again.extendleft(reversed(lost))
        self._send()

    def _since_last_answer(self, end: HelperEnd) -> float:
        """Return the CPU time a helper took for the document it was at when it ended."""
        return max(0.0, end.seconds - self._helper_seconds)

    def _blame(self, job: _Job, cause: ParseOutcome, seconds: float, *, was_killed: bool) -> None:
        self._waiting.charge(job.host, seconds)
        job = job._replace(seconds=job.seconds + seconds)
        request = job.request
        if was_killed and not job.was_killed:
            self._again.append(job._replace(was_killed=True))
        elif request.is_sitemap:
            problem = f"{request.document.url}: {cause.value}"
            self._finished.append(ParseAnswer(job.tag, SitemapContent(problem=problem), job.seconds))
        elif request.cause is None:
            self._again.append(job._replace(request=ParseRequest(request.document, cause)))
        else:
            kind = sniff(request.document.content_type, request.document.body)
            self._finished.append(ParseAnswer(job.tag, Parsed(request.cause, kind), job.seconds))


def _verdict(code: int) -> ParseOutcome:
    if code == -signal.SIGPROF:
        return ParseOutcome.TIMEOUT
    # The kernel kills whom it finds when memory runs out.
    if code in (OUT_OF_MEMORY, -signal.SIGKILL):
        return ParseOutcome.MEMORY
    return ParseOutcome.CRASH
