"""What is done with the answers to requests: robots.txt opens a host, sitemaps and pages fill the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.fetch.loop.internal_errors import INTERNAL_ERRORS, is_ours, reason_of
from crawlctl.pipeline.fetch.loop.parse_queue import Parsing
from crawlctl.pipeline.fetch.loop.planned_urls import robots_request
from crawlctl.pipeline.fetch.pages.outcomes import REFUSED, has_content, host_status, is_our_fault, outcome_of
from crawlctl.pipeline.fetch.pages.page_reader import Visit
from crawlctl.pipeline.http.exchange import Kind as For
from crawlctl.pipeline.politeness.polite_queue import Action, Reply
from crawlctl.pipeline.robots.robots import MAX_REDIRECTS, robots_for_status
from crawlctl.pipeline.robots.sitemap_reader import SitemapContent
from crawlctl.pipeline.text.documents.document import Document, Parsed
from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.pipeline.webdb.records import Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.fetch.loop.planned_urls import Errand
    from crawlctl.pipeline.fetch.loop.task_tools import Crew
    from crawlctl.pipeline.fetch.select.selection import Due
    from crawlctl.pipeline.http.exchange import Answer

SITEMAP_PRIORITY = 0.75  # behind the seeds and before what they link to


class AnswerDesk:
    """Takes answers as they come; pages and sitemaps go through the helper that parses."""

    def __init__(self, crew: Crew, plan: Callable[[Iterable[Due]], None]) -> None:
        self.touched: set[str] = set()  # hosts that have answered, or failed to
        self.parsing = Parsing(crew.guard, crew.queue, crew.config.parse.host_time)
        self._crew = crew
        self._plan = plan
        self._is_told = False  # whether the queue knows of the end of the request whose answer is at hand

    def take(self, answers: Iterable[Answer]) -> None:
        """Take the answers to requests; whatever is in them, it is a matter of their URLs alone."""
        for answer in answers:
            errand: Errand = answer.request.tag
            self.touched.add(errand.handout.host)
            self._crew.heartbeat.working_on(errand.handout.host)
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

    def take_parsed(self, wait: float) -> Iterator[None]:
        """Take what is parsed, waiting for the first document if need be; one step for each of them."""
        for tag, result in self.parsing.collect(wait) if self.parsing else ():
            self._crew.heartbeat.working_on(host_of(tag.url))
            try:
                if isinstance(tag, Visit):
                    self._take_page(tag, result)
                else:
                    self._take_sitemap_content(tag, result)
            except Exception as error:
                if is_ours(error):
                    raise
                self._parsed_failed(tag, error)
            yield

    def parse_archived(self, visit: Visit) -> None:
        """Have a page parsed that an earlier attempt has archived."""
        self._crew.run.adopt(visit)
        self._parse(visit)

    def queue_sitemaps(self, urls: Iterable[str]) -> None:
        """Have sitemaps fetched; one that is to be fetched as a page too is known when its turn comes."""
        for url in urls:
            self._crew.queue.add(url, SITEMAP_PRIORITY)

    def _take_robots(self, answer: Answer, errand: Errand) -> None:
        crew, seconds = self._crew, errand.seconds + answer.timing.total
        if answer.redirect and errand.hops < MAX_REDIRECTS:
            further = errand._replace(hops=errand.hops + 1, seconds=seconds)
            crew.engine.submit(robots_request(answer.redirect, further))
            return
        if answer.error is not None and answer.error.kind in REFUSED and not (errand.hops or answer.status):
            reason = f"{answer.error.kind.value}: {answer.error.reason}"
            crew.queue.refused(errand.handout, crew.clock.now(), reason)
            self._is_told = True
            return
        answered = answer.error is None or 300 <= answer.status < 400
        status = answer.status if answered else None
        robots = robots_for_status(status, answer.body, crew.config.fetch.agent)
        if answer.error is not None and robots.try_later:
            robots = replace(robots, note=f"{robots.note} ({answer.error.reason})")
        robots = crew.rules.admit(errand.handout.url, robots)
        reply = Reply(status, seconds, answer.retry_after, answer.ip)
        crew.queue.robots_finished(errand.handout, crew.clock.now(), reply, robots)
        self._is_told = True
        crew.run.count("robots")
        if robots.try_later:
            crew.sitemaps.block(errand.handout.host)
        else:
            self.queue_sitemaps(crew.sitemaps.named(errand.handout.url, robots.sitemaps))

    def _take_answer(self, answer: Answer, errand: Errand) -> None:
        crew = self._crew
        crew.queue.finished(errand.handout, crew.clock.now(), reply_of(answer))
        self._is_told = True
        started = crew.clock.began(answer.started, answer.timing.total)
        if started != answer.started:
            answer = replace(answer, started=started)
        if answer.request.kind is For.SITEMAP:
            self._take_sitemap(answer)
        if errand.key is None or errand.entry is None:
            return
        visit = Visit(errand.key, errand.handout.url, errand.entry, answer)
        if has_content(answer):
            crew.run.archive(visit)
            self._parse(visit)
            return
        outcome = outcome_of(answer, errand.entry.depth)
        if outcome.target:
            outcome = crew.reader.redirected(visit, outcome, crew.run.fresh)
        crew.run.add(visit, outcome)

    def _parse(self, visit: Visit) -> None:
        if not self.parsing.submit(to_parse(visit.answer), visit):
            self._fail(visit, self.parsing.refusal)

    def _take_page(self, visit: Visit, parsed: Parsed | SitemapContent | None) -> None:
        if not isinstance(parsed, Parsed):
            self._fail(visit, self.parsing.refusal)
            return
        outcome, document = self._crew.reader.read(visit, parsed, self._crew.run.fresh)
        self._crew.run.add(visit, outcome, document)

    def _take_sitemap(self, answer: Answer) -> None:
        self._crew.run.count("sitemaps")
        if answer.status != 200:
            self._read_sitemap(answer, None)
        elif not self.parsing.submit(Document(answer.url, answer.body), answer, is_sitemap=True):
            self._take_sitemap_content(answer, None)

    def _take_sitemap_content(self, answer: Answer, content: Parsed | SitemapContent | None) -> None:
        if not isinstance(content, SitemapContent):
            content = SitemapContent(problem=f"{answer.url}: {self.parsing.refusal}")
        self._read_sitemap(answer, content)

    def _read_sitemap(self, answer: Answer, content: SitemapContent | None) -> None:
        further, changed = self._crew.sitemaps.read(answer, content, self._crew.run.fresh)
        self.queue_sitemaps(further)
        self._plan(changed)

    def _answer_failed(self, answer: Answer, errand: Errand, error: Exception) -> None:
        """End a request whose answer we could not deal with; its host is to blame for nothing else."""
        crew, handout = self._crew, errand.handout
        if not self._is_told:
            now = crew.clock.now()
            reply = reply_of(answer)
            if handout.action is Action.ROBOTS:
                closed = replace(
                    robots_for_status(None, b"", crew.config.fetch.agent), note=reason_of(error, answer.url)
                )
                crew.queue.robots_finished(handout, now, reply, closed)
            else:
                crew.queue.finished(handout, now, reply)
        if answer.request.kind is For.SITEMAP:
            self.queue_sitemaps(crew.sitemaps.skip(answer.url))
        if errand.key is not None and errand.entry is not None:
            self._parsed_failed(Visit(errand.key, handout.url, errand.entry, answer), error)
        else:
            crew.run.count(INTERNAL_ERRORS)

    def _parsed_failed(self, tag: Visit | Answer, error: Exception) -> None:
        self._crew.run.count(INTERNAL_ERRORS)
        if isinstance(tag, Visit):
            self._fail(tag, reason_of(error, tag.url))
        else:
            self.queue_sitemaps(self._crew.sitemaps.skip(tag.url))

    def _fail(self, visit: Visit, reason: str) -> None:
        """Leave a page that was fetched for another time."""
        answer, depth = visit.answer, visit.entry.depth
        outcome = Outcome(Kind.FAILED, int(answer.started), code=answer.status, reason=reason, depth=depth)
        self._crew.run.fail(visit, outcome)


def reply_of(answer: Answer) -> Reply:
    """Return what an answer says of its host."""
    seconds = answer.timing.total
    return Reply(host_status(answer), seconds, answer.retry_after, answer.ip, is_our_fault(answer))


def to_parse(answer: Answer) -> Document:
    """Return what the helper needs to know of an answer that brought a page."""
    return Document(
        answer.url,
        answer.body,
        answer.content_type,
        answer.header("content-language") or "",
        tuple(answer.all_headers("x-robots-tag")),
    )
