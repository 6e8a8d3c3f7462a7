"""Parses documents in a helper process, so that a hostile document cannot hang or crash the crawl.

Every document and every sitemap goes through the helper. To send only dangerous ones would save a tenth of a
millisecond per page, but they cannot be recognised: deep nesting is one way to make lexbor quadratic, many
attributes are another, and PDF has its own. In return the caller can continue to fetch while the helper
parses.

If a document kills the helper, a new helper tries it once more, with a cheap parser that finds less. If
another process has killed the helper, the document is not to blame, and is parsed once more in full. Hosts
take turns by the CPU time that their documents take (fair_queue.py), so answers do not come in the order of
the documents.

Not pebble or loky: pebble limits the time on the clock, loky limits no task at all. We need limits of CPU
time and memory that the kernel enforces per document, a helper that inherits no sockets, and the fair order
above.
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

from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapContent
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

# Documents that the helper has: the one it parses and those in its pipe, so that it never has to wait.
_AHEAD = 4
# Seconds on the clock per second of the CPU limit: the helper may share its core with other processes.
_CLOCK_FACTOR = 10
_READ_BYTES = 1 << 17
# Signals that another process sent: we send none of them to a helper whose answers we wait for.
_FROM_OUTSIDE = frozenset({-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP})


class ParseAnswer(NamedTuple):
    """The result for a document or a sitemap, the tag it was submitted with, and the CPU seconds it took."""

    tag: Any
    result: Parsed | SitemapContent
    seconds: float


class _Job(NamedTuple):
    """A document that waits for the helper or is with it."""

    tag: Any
    host: str
    request: ParseRequest
    seconds: float = 0.0  # CPU seconds of failed attempts
    was_killed: bool = False  # another process killed its helper once


class Guard:
    """Owns the helper process and the documents on their way; use it in one thread, in a `with` block."""

    def __init__(
        self,
        rules: ParseRules | None = None,
        parse: Parse = parse_document,
        salvage: Salvage = salvage_document,
    ) -> None:
        self._rules = rules or ParseRules()
        self._parse, self._salvage = parse, salvage
        self._waiting: FairQueue[_Job] = FairQueue(_AHEAD)
        self._again: deque[_Job] = deque()  # documents of a helper that has ended
        self._sent: deque[_Job] = deque()
        self._in_pipe: Counter[str] = Counter()  # number of documents in `_sent`, by host
        self._finished: list[ParseAnswer] = []
        self._outgoing: deque[memoryview] = deque()
        self._incoming = bytearray()
        self._encoder = msgspec.msgpack.Encoder()
        self._pages = msgspec.msgpack.Decoder(Parsed)
        self._sitemaps = msgspec.msgpack.Decoder(SitemapContent)
        self._longest_wait = self._rules.settings.time_limit * _CLOCK_FACTOR
        self._deadline = 0.0
        self._helper_seconds = 0.0  # CPU seconds of the helper up to its last answer
        self._closed = False
        self._helper = start_helper(self._rules, parse, salvage)

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """Return how many documents were submitted and not yet collected."""
        return len(self._waiting) + len(self._again) + len(self._sent) + len(self._finished)

    def close(self) -> None:
        """End the helper; documents that were not collected are dropped."""
        if not self._closed:
            self._closed = True
            self._helper.bury()

    def parse(self, document: FetchedDocument) -> Parsed:
        """Parse one document and wait for the result; no other document may be on its way."""
        if len(self):
            raise ValueError("other documents are on their way; collect them first, or submit this one too")
        self.submit(document)
        while not (answers := self.collect(self._longest_wait)):
            pass
        return cast("Parsed", answers[0].result)

    def submit(self, document: FetchedDocument, tag: Any = None, *, is_sitemap: bool = False) -> None:
        """Queue a document or a sitemap; `collect` returns the result, with the tag."""
        host = host_of(document.url)
        self._waiting.add(host, _Job(tag, host, ParseRequest(document, is_sitemap=is_sitemap)))
        self._send()

    def drop(self, host: str) -> list[Any]:
        """Drop the documents of a host that are not with the helper yet, and return their tags."""
        return [job.tag for job in self._waiting.drop(host)]

    def interrupt(self, seconds: float = SLOW) -> list[Any]:
        """Drop the current document if the helper has spent `seconds` on it, and return its tag.

        This ends the helper and starts a new one.
        """
        self._receive()  # else a document whose answer has arrived would seem to be with the helper
        if not self._sent or time.monotonic() < self._deadline - self._longest_wait + seconds:
            return []
        job = self._sent.popleft()
        end = self._helper.bury()
        self._waiting.charge(job.host, max(seconds, self._since_last_answer(end)))
        self._replace_helper(end, None)
        return [job.tag]

    def collect(self, timeout: float = 0.0) -> list[ParseAnswer]:
        """Return the results so far; wait at most `timeout` seconds for the first."""
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
        """Wait until the helper has an answer, or its pipe has room for more."""
        # Not select(): it cannot handle file numbers from 1,024 on, and connections may use all lower ones.
        pipes = select.poll()
        pipes.register(self._helper.answers, select.POLLIN)
        if self._outgoing:
            pipes.register(self._helper.requests, select.POLLOUT)
        pipes.poll(math.ceil(seconds * 1000))

    def _send(self) -> None:
        while len(self._sent) < _AHEAD and (job := self._next()) is not None:
            if not self._sent:
                self._deadline = time.monotonic() + self._longest_wait
            self._sent.append(job)
            self._in_pipe[job.host] += 1
            self._outgoing.extend(self._framed(job.request))
        while self._outgoing:
            try:
                written = os.writev(self._helper.requests, list(self._outgoing))
            except (BlockingIOError, BrokenPipeError):
                return  # the pipe is full, or the helper has died, which `_receive` notices
            while self._outgoing and written >= len(self._outgoing[0]):
                written -= len(self._outgoing.popleft())
            if written:
                self._outgoing[0] = self._outgoing[0][written:]

    def _next(self) -> _Job | None:
        return self._again.popleft() if self._again else self._waiting.take(self._in_pipe)

    def _framed(self, request: ParseRequest) -> tuple[memoryview, memoryview]:
        """Return a request in the form for the pipe; the body is not copied."""
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
            self._deadline = time.monotonic() + self._longest_wait

    def _decoded(self, request: ParseRequest, answer: memoryview) -> Parsed | SitemapContent:
        """Decode an answer; a parser with a memory error may have damaged it."""
        try:
            return (self._sitemaps if request.is_sitemap else self._pages).decode(answer)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            note = f"the answer of the parser process is damaged: {error}"
            return (
                SitemapContent(problem=note) if request.is_sitemap else Parsed(ParseOutcome.CRASH, note=note)
            )
        finally:
            answer.release()

    def _replace_helper(
        self, end: HelperEnd, cause: ParseOutcome | None, *, was_killed: bool = False
    ) -> None:
        """Start a new helper, and send it the documents that the old one had, before all others.

        `cause` says why the document that the old helper parsed is to blame for its end; None blames nothing.
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
        """Return the CPU seconds that a helper spent on its last, unfinished document."""
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
    # When memory runs out, the kernel kills a process with SIGKILL.
    if code in (OUT_OF_MEMORY, -signal.SIGKILL):
        return ParseOutcome.MEMORY
    return ParseOutcome.CRASH
