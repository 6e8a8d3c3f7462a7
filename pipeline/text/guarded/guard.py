"""Parses documents in helper processes, so that a hostile document cannot hang or crash the crawl.

Every document and every sitemap goes through a helper. To send only dangerous ones would save a tenth of a
millisecond per page, but they cannot be recognised: deep nesting is one way to make lexbor quadratic, many
attributes are another, and PDF has its own. In return the caller can continue to fetch while the helper
parses.

If a document kills the helper, a new helper tries it once more, with a cheap parser that finds less. If
another process has killed the helper, the document is not to blame, and is parsed once more in full. Hosts
take turns by the CPU time that their documents take (fair_queue.py), so answers do not come in the order of
the documents.

Parsing takes more CPU time than fetching, so one helper leaves cores idle when few tasks are left. While
documents pile up, a guard starts more helpers, if its owner gets a core for them (processes/shared_slots.py).

Not pebble or loky: pebble limits the time on the clock, loky limits no task at all. We need limits of CPU
time and memory that the kernel enforces per document, a helper that inherits no sockets, and the fair order
above.
"""

from __future__ import annotations

import math
import select
import signal
import time
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from crawlctl.pipeline.errors import CrawlctlError
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
from crawlctl.pipeline.text.guarded.helper import OUT_OF_MEMORY, RETIRED, ParseRequest, start_helper
from crawlctl.pipeline.text.guarded.helper_line import AHEAD, HelperLine, Job
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from crawlctl.pipeline.text.guarded.helper import HelperEnd, Parse, Salvage
    from crawlctl.pipeline.text.guarded.helper_line import JobAnswer

# How many documents must wait, while all helpers are busy, before another helper is started.
_BACKLOG = 8
_ASKING = 0.1  # the shortest time in seconds between two calls of `more_helpers`
# Seconds on the clock per second of the CPU limit: the helper may share its core with other processes.
_CLOCK_FACTOR = 10
# Signals that only other processes send: a guard never sends them to a helper whose answers it waits for.
_FROM_OUTSIDE = frozenset({-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP})


class ParseAnswer(NamedTuple):
    """The result for a document or a sitemap, the tag it was submitted with, and the CPU seconds it took."""

    tag: Any
    result: Parsed | SitemapContent
    seconds: float


class Guard:
    """Owns the helper processes and the documents being parsed; use it in one thread, in a `with` block.

    It has one helper, and starts another one when documents pile up and `more_helpers` returns True.
    """

    def __init__(
        self,
        rules: ParseRules | None = None,
        parse: Parse = parse_document,
        salvage: Salvage = salvage_document,
        *,
        more_helpers: Callable[[], bool] = lambda: False,
    ) -> None:
        self._rules = rules or ParseRules()
        self._parse, self._salvage = parse, salvage
        self._more_helpers = more_helpers
        self._next_question = 0.0
        self._waiting: FairQueue[Job] = FairQueue(AHEAD)
        self._again: deque[Job] = deque()  # documents to parse again, because their helper has ended
        self._in_pipe: Counter[str] = Counter()  # how many documents the helpers have, per host
        self._finished: list[ParseAnswer] = []
        self._pages = msgspec.msgpack.Decoder(Parsed)
        self._sitemaps = msgspec.msgpack.Decoder(SitemapContent)
        self._longest_wait = self._rules.settings.time_limit * _CLOCK_FACTOR
        self._closed = False
        self.lines = [self._new_line()]

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """Return how many documents were submitted and not yet collected."""
        with_helpers = sum(len(line.jobs) for line in self.lines)
        return len(self._waiting) + len(self._again) + with_helpers + len(self._finished)

    def close(self) -> None:
        """End the helpers; documents that were not collected are dropped."""
        if not self._closed:
            self._closed = True
            for line in self.lines:
                line.helper.bury()

    def parse(self, document: FetchedDocument) -> Parsed:
        """Parse one document and wait for the result; no other document may be submitted at the same time."""
        if len(self):
            raise ValueError("other documents are on their way; collect them first, or submit this one too")
        self.submit(document)
        while not (answers := self.collect(self._longest_wait)):
            pass
        return cast("Parsed", answers[0].result)

    def submit(self, document: FetchedDocument, tag: Any = None, *, is_sitemap: bool = False) -> None:
        """Queue a document or a sitemap; `collect` returns the result, with the tag."""
        host = host_of(document.url)
        self._waiting.add(host, Job(tag, host, ParseRequest(document, is_sitemap=is_sitemap)))
        self._send()

    def drop(self, host: str) -> list[Any]:
        """Drop the documents of a host that are not with the helper yet, and return their tags."""
        return [job.tag for job in self._waiting.drop(host)]

    def interrupt(self, seconds: float = SLOW) -> list[Any]:
        """Drop the current document of each helper that has spent `seconds` on it, and return the tags.

        This ends the helper and starts a new one.
        """
        # otherwise a document with an answer that was not read yet would seem to be still with the
        # helper
        self._receive()
        return [self._interrupt(line, seconds) for line in self.lines if line.has_worked(seconds)]

    def _interrupt(self, line: HelperLine, seconds: float) -> Any:
        lost, spent = self._restart(line, line.helper.bury())
        job = lost.pop(0)
        self._waiting.charge(job.host, max(seconds, spent))
        self._do_again(lost)
        return job.tag

    def collect(self, timeout: float = 0.0) -> list[ParseAnswer]:
        """Return the results so far; wait at most `timeout` seconds for the first."""
        end = time.monotonic() + timeout
        while True:
            self._send()
            self._receive()
            deadline = min(line.deadline for line in self.lines)
            remaining = min(end, deadline) - time.monotonic()
            if self._finished or deadline == math.inf:
                break
            if time.monotonic() >= deadline:
                self._end_late_helpers()
            elif remaining <= 0:
                break
            else:
                self._await_helpers(remaining)
        found, self._finished = self._finished, []
        return found

    def _end_late_helpers(self) -> None:
        now = time.monotonic()
        for line in self.lines:
            if now >= line.deadline:
                self._replace_helper(line, line.helper.bury(), ParseOutcome.TIMEOUT)

    def _await_helpers(self, seconds: float) -> None:
        """Wait until a helper has an answer, or its pipe has room for more."""
        # Not select(): it cannot handle file numbers from 1,024 on, and connections may use all lower ones.
        pipes = select.poll()
        for line in self.lines:
            line.watch(pipes)
        pipes.poll(math.ceil(seconds * 1000))

    def _new_line(self) -> HelperLine:
        return HelperLine(lambda: start_helper(self._rules, self._parse, self._salvage), self._longest_wait)

    def _send(self) -> None:
        """Send documents to the helpers, each to the helper that has the fewest documents."""
        while True:
            line = min(self.lines, key=lambda line: len(line.jobs))
            if not line.has_room and self._wants_helper():
                line = self._added_line() or line
            if not line.has_room or (job := self._next()) is None:
                break
            line.add(job)
            self._in_pipe[job.host] += 1
        for line in self.lines:
            line.flush()

    def _added_line(self) -> HelperLine | None:
        """Start another helper, if the system has room for one more process."""
        try:
            line = self._new_line()
        except CrawlctlError:
            return None
        self.lines.append(line)
        return line

    def _wants_helper(self) -> bool:
        """Return whether documents pile up, and another helper may be started."""
        now = time.monotonic()
        if len(self._waiting) < _BACKLOG or now < self._next_question:
            return False
        self._next_question = now + _ASKING
        return self._more_helpers()

    def _next(self) -> Job | None:
        return self._again.popleft() if self._again else self._waiting.take(self._in_pipe)

    def _receive(self) -> None:
        for line in self.lines:
            for answer in line.receive():
                self._take_answer(answer)
            if (end := line.end) is not None:
                cause = None if end.code == RETIRED else _verdict(end.code)
                self._replace_helper(line, end, cause, was_killed=end.code in _FROM_OUTSIDE)

    def _take_answer(self, answer: JobAnswer) -> None:
        job = answer.job
        self._in_pipe[job.host] -= 1
        self._waiting.charge(job.host, answer.seconds)
        result = self._decoded(job.request, answer.packed)
        self._finished.append(ParseAnswer(job.tag, result, job.seconds + answer.seconds))

    def _decoded(self, request: ParseRequest, answer: bytes) -> Parsed | SitemapContent:
        """Decode an answer; a parser with a memory error may have damaged it."""
        try:
            return (self._sitemaps if request.is_sitemap else self._pages).decode(answer)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            note = f"the answer of the parser process is damaged: {error}"
            return (
                SitemapContent(problem=note) if request.is_sitemap else Parsed(ParseOutcome.CRASH, note=note)
            )

    def _replace_helper(
        self, line: HelperLine, end: HelperEnd, cause: ParseOutcome | None, *, was_killed: bool = False
    ) -> None:
        """Start a new helper; the documents of the old helper are parsed again before all others.

        `cause` says how the document that the old helper parsed has caused its end; None if it was not the
        cause.
        """
        lost, seconds = self._restart(line, end)
        if lost and cause is not None:
            self._blame(lost.pop(0), cause, seconds, was_killed=was_killed)
        self._do_again(lost)

    def _restart(self, line: HelperLine, end: HelperEnd) -> tuple[list[Job], float]:
        """Start a new helper; return the jobs of the old helper, and its CPU seconds for the first job."""
        lost, seconds = line.replace(end)
        self._in_pipe.subtract([job.host for job in lost])
        return lost, seconds

    def _do_again(self, jobs: list[Job]) -> None:
        self._again.extendleft(reversed(jobs))
        self._send()

    def _blame(self, job: Job, cause: ParseOutcome, seconds: float, *, was_killed: bool) -> None:
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
