"""What is done with the answers to requests: robots.txt opens a host, sitemaps and pages fill the run."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.fetch.border import INTERNAL_ERRORS, is_ours, reason_of
from crawlctl.pipeline.fetch.errands import robots_request
from crawlctl.pipeline.fetch.outcomes import REFUSED, has_content, host_status, outcome_of
from crawlctl.pipeline.fetch.pages import Visit
from crawlctl.pipeline.net.answer import Kind as For
from crawlctl.pipeline.net.politeness import Action, Reply
from crawlctl.pipeline.net.robots import MAX_REDIRECTS, robots_for_status
from crawlctl.pipeline.net.sitemaps import read_sitemap_body
from crawlctl.pipeline.text.document import Document
from crawlctl.pipeline.webdb.records import Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.fetch.crew import Crew
    from crawlctl.pipeline.fetch.errands import Errand
    from crawlctl.pipeline.fetch.selection import Due
    from crawlctl.pipeline.net.answer import Answer

SITEMAP_PRIORITY = 0.75  # behind the seeds and before what they link to


class AnswerDesk:
    """Takes answers as they come; pages go through the helper that parses before they are judged."""

    def __init__(self, crew: Crew, plan: Callable[[Iterable[Due]], None]) -> None:
        self.touched: set[str] = set()  # hosts that have answered, or failed to
        self.backlog = 0  # bytes of bodies that wait for the helper
        self._crew = crew
        self._plan = plan
        self._parsing: deque[Visit] = deque()
        self._is_told = False  # whether the queue knows of the end of the request whose answer is at hand

    @property
    def parsing(self) -> int:
        """How many pages are with the helper."""
        return len(self._parsing)

    def take(self, answers: Iterable[Answer]) -> None:
        """Take the answers to requests."""
        for answer in answers:
            errand: Errand = answer.request.tag
            self.touched.add(errand.handout.host)
            self._is_told = False
            try:
                if errand.handout.action is Action.ROBOTS:
                    self._take_robots(answer, errand)
                else:
                    self._take_answer(answer, errand)
            except Exception as error:
                if is_ours(error):
                    raise
                self._answer_failed(answer, errand, error)

    def take_parsed(self, wait: float) -> Iterator[Visit]:
        """Take the pages that are parsed, waiting for the first one if need be, and yield each when done."""
        for parsed in self._crew.guard.collect(wait) if self._parsing else ():
            visit = self._parsing.popleft()
            self.backlog -= len(visit.answer.body)
            try:
                outcome, document = self._crew.reader.read(visit, parsed, self._crew.run.fresh)
                self._crew.run.add(visit, outcome, document)
            except Exception as error:
                if is_ours(error):
                    raise
                self._page_failed(visit, error)
            yield visit

    def queue_sitemaps(self, urls: Iterable[str]) -> None:
        """Have sitemaps fetched; one that is to be fetched as a page too is known when its turn comes."""
        for url in urls:
            self._crew.queue.add(url, SITEMAP_PRIORITY)

    def _answer_failed(self, answer: Answer, errand: Errand, error: Exception) -> None:
        """End a request whose answer we could not deal with; the host is to blame for nothing else."""
        crew, now = self._crew, time.time()
        handout, reply = errand.handout, Reply(host_status(answer), answer.timing.total, answer.retry_after)
        if handout.action is Action.ROBOTS:
            reason = self._count(error, answer.url)
            if not self._is_told:
                nothing = replace(robots_for_status(None, b"", crew.config.fetch.agent), note=reason)
                crew.queue.robots_finished(handout, now, reply, nothing)
            return
        if not self._is_told:
            crew.queue.finished(handout, now, reply)
        if answer.request.kind is For.SITEMAP:
            self.queue_sitemaps(crew.sitemaps.skip(answer.url))
        if errand.key is not None and errand.entry is not None:
            self._page_failed(Visit(errand.key, handout.url, errand.entry, answer), error)
        else:
            self._count(error, answer.url)

    def _page_failed(self, visit: Visit, error: Exception) -> None:
        reason, answer = self._count(error, visit.url), visit.answer
        outcome = Outcome(
            Kind.FAILED, int(answer.started), code=answer.status, reason=reason, depth=visit.entry.depth
        )
        self._crew.run.judge(visit.key, outcome)

    def _count(self, error: Exception, url: str) -> str:
        self._crew.run.count(INTERNAL_ERRORS)
        return reason_of(error, url)

    def _take_robots(self, answer: Answer, errand: Errand) -> None:
        crew, seconds = self._crew, errand.seconds + answer.timing.total
        if answer.redirect and errand.hops < MAX_REDIRECTS:
            further = errand._replace(hops=errand.hops + 1, seconds=seconds)
            crew.engine.submit(robots_request(answer.redirect, further))
            return
        if answer.error is not None and answer.error.kind in REFUSED and not (errand.hops or answer.status):
            crew.queue.refused(
                errand.handout, time.time(), f"{answer.error.kind.value}: {answer.error.reason}"
            )
            return
        answered = answer.error is None or 300 <= answer.status < 400
        status = answer.status if answered else None
        robots = robots_for_status(status, answer.body, crew.config.fetch.agent)
        if answer.error is not None and robots.try_later:
            robots = replace(robots, note=f"{robots.note} ({answer.error.reason})")
        robots = crew.rules.admit(errand.handout.url, robots)
        reply = Reply(status, seconds, answer.retry_after, answer.ip)
        crew.queue.robots_finished(errand.handout, time.time(), reply, robots)
        self._is_told = True
        crew.run.count("robots")
        if robots.try_later:
            crew.sitemaps.block(errand.handout.host)
        else:
            self.queue_sitemaps(crew.sitemaps.named(errand.handout.url, robots.sitemaps))

    def _take_answer(self, answer: Answer, errand: Errand) -> None:
        crew = self._crew
        reply = Reply(host_status(answer), answer.timing.total, answer.retry_after, answer.ip)
        crew.queue.finished(errand.handout, time.time(), reply)
        self._is_told = True
        if answer.request.kind is For.SITEMAP:
            self._take_sitemap(answer)
        if errand.key is None or errand.entry is None:
            return
        visit = Visit(errand.key, errand.handout.url, errand.entry, answer)
        if has_content(answer):
            self._parsing.append(visit)
            self.backlog += len(answer.body)
            crew.guard.submit(to_parse(answer))
            return
        outcome = outcome_of(answer, errand.entry.depth)
        if outcome.target:
            outcome = crew.reader.redirected(visit, outcome, crew.run.fresh)
        crew.run.add(visit, outcome)

    def _take_sitemap(self, answer: Answer) -> None:
        crew = self._crew
        crew.run.count("sitemaps")
        content = None
        if answer.status == 200:
            strip = crew.config.urls.strip_parameters
            content = read_sitemap_body(answer.url, answer.body, crew.config.sitemaps, strip)
        found, changed = crew.sitemaps.read(answer, content, crew.run.fresh)
        self.queue_sitemaps(found)
        self._plan(changed)


def to_parse(answer: Answer) -> Document:
    """Return what the helper needs to know of an answer that brought a page."""
    return Document(
        answer.url,
        answer.body,
        answer.content_type,
        answer.header("content-language") or "",
        tuple(answer.all_headers("x-robots-tag")),
    )
