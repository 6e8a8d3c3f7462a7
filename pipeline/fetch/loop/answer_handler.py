"""AnswerHandler: what a task does with each answer: a robots.txt opens its host, pages are parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.fetch.loop.internal_errors import INTERNAL_ERRORS, is_ours, reason_of
from crawlctl.pipeline.fetch.loop.planned_urls import robots_request
from crawlctl.pipeline.fetch.pages.outcomes import (
    REFUSED,
    has_content,
    host_status,
    is_our_fault,
    is_reached,
    outcome_of,
    reason_of_failure,
)
from crawlctl.pipeline.fetch.pages.page_reader import Visit
from crawlctl.pipeline.fetch.save.latency import latency_counter
from crawlctl.pipeline.fetch.save.run_buffer import REACHED, REQUESTS
from crawlctl.pipeline.http.exchange import RequestKind
from crawlctl.pipeline.politeness.failure_kinds import ROBOTS
from crawlctl.pipeline.politeness.handout import Action, Reply
from crawlctl.pipeline.robots.robots import MAX_REDIRECTS, robots_for_status
from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapContent
from crawlctl.pipeline.text.documents.document import FetchedDocument
from crawlctl.pipeline.text.documents.sniff import is_feed
from crawlctl.pipeline.text.html.directives import robots_tags
from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.pipeline.webdb.records import Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.fetch.loop.planned_urls import RequestPurpose
    from crawlctl.pipeline.fetch.loop.task_tools import TaskTools
    from crawlctl.pipeline.http.exchange import Answer, Request
    from crawlctl.pipeline.text.documents.document import Parsed
    from crawlctl.pipeline.webdb.repeated.block_table import RunBlocks


class AnswerHandler:
    """Takes answers and parsed documents one by one; all results go into the objects of `tools`."""

    def __init__(self, tools: TaskTools) -> None:
        self._tools = tools
        self._is_reported = False  # whether the polite queue knows that the current request has ended

    def take(self, answers: Iterable[Answer]) -> None:
        """Handle the answers to requests; an answer that cannot be handled affects only its own URL."""
        for answer in answers:
            purpose: RequestPurpose = answer.request.tag
            self._tools.saver.mark(purpose.handout.host)
            self._tools.heartbeat.working_on(purpose.handout.host)
            self._tools.run.count(REQUESTS)
            self._tools.run.count(REACHED, is_reached(answer))
            if answer.error is None:
                self._tools.run.count(latency_counter(answer.seconds))
            self._is_reported = False
            try:
                if purpose.handout.action is Action.ROBOTS:
                    self._take_robots(answer, purpose)
                else:
                    self._take_answer(answer, purpose)
            except Exception as error:
                if is_ours(error):
                    raise
                self._answer_failed(answer, purpose, error)

    def break_off(self, requests: Iterable[Request]) -> None:
        """Tell the polite queue that requests were stopped because the round is over; their URLs stay due."""
        for request in requests:
            handout = request.tag.handout
            self._tools.saver.mark(handout.host)
            self._tools.queue.broken_off(handout, self._tools.clock.now())

    def take_parsed(self, wait: float) -> Iterator[None]:
        """Handle parsed documents, one per step; wait at most `wait` seconds for the first one."""
        queue = self._tools.parse_queue
        for tag, result in queue.collect(wait) if queue else ():
            self._tools.heartbeat.working_on(host_of(tag.url))
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
        """Submit to the parser a page that an earlier attempt has archived."""
        self._tools.run.adopt(visit)
        self._parse(visit)

    def _take_robots(self, answer: Answer, purpose: RequestPurpose) -> None:
        tools, seconds = self._tools, purpose.seconds + answer.seconds
        if answer.redirect and purpose.hops < MAX_REDIRECTS:
            further = purpose._replace(hops=purpose.hops + 1, seconds=seconds)
            tools.engine.submit(robots_request(answer.redirect, further))
            return
        if answer.error is not None and answer.error.kind in REFUSED and not (purpose.hops or answer.status):
            tools.queue.refused(purpose.handout, tools.clock.now(), reason_of_failure(answer))
            self._is_reported = True
            return
        answered = answer.error is None or 300 <= answer.status < 400
        status = answer.status if answered else None
        robots = robots_for_status(status, answer.body, tools.config.fetch.agent)
        if answer.error is not None and robots.try_later:
            robots = replace(robots, note=f"{robots.note} ({answer.error.reason})")
        robots = tools.rules.admit(purpose.handout.url, robots)
        reason = reason_of_failure(answer) or f"{ROBOTS}: robots.txt answered with status {status}"
        reply = Reply(status, seconds, answer.retry_after, answer.ip, reason=reason)
        tools.queue.robots_finished(purpose.handout, tools.clock.now(), reply, robots)
        self._is_reported = True
        tools.run.count("robots")
        if robots.try_later:
            tools.sitemaps.block(purpose.handout.host)
        else:
            tools.planned.add_sitemaps(tools.sitemaps.named(purpose.handout.url, robots.sitemaps))

    def _take_answer(self, answer: Answer, purpose: RequestPurpose) -> None:
        tools = self._tools
        tools.queue.finished(purpose.handout, tools.clock.now(), reply_of(answer))
        self._is_reported = True
        started = tools.clock.began(answer.started, answer.seconds)
        if started != answer.started:
            answer = replace(answer, started=started)
        if answer.request.kind is RequestKind.SITEMAP:
            self._take_sitemap(answer)
        if purpose.key is None or purpose.entry is None:
            return
        visit = Visit(purpose.key, purpose.handout.url, purpose.entry, answer)
        if has_content(answer):
            tools.run.archive(visit)
            self._parse(visit)
            return
        outcome = outcome_of(answer, purpose.entry.depth)
        if outcome.target:
            outcome = tools.reader.redirected(visit, outcome, tools.run.fresh)
        tools.run.add(visit, outcome)

    def _parse(self, visit: Visit) -> None:
        document = to_parse(visit, self._tools.run.blocks)
        is_listing = is_feed(document.content_type, document.body)
        if not self._tools.parse_queue.submit(document, visit, is_sitemap=is_listing):
            self._fail(visit, self._tools.parse_queue.refusal)

    def _take_page(self, visit: Visit, parsed: Parsed | SitemapContent | None) -> None:
        if parsed is None:
            self._fail(visit, self._tools.parse_queue.refusal)
        elif isinstance(parsed, SitemapContent):
            self._take_feed(visit, parsed)
        else:
            outcome, document = self._tools.reader.read(visit, parsed, self._tools.run.fresh)
            self._tools.run.add(visit, outcome, document)
            page = parsed.page
            if page.feeds and not page.directives.nofollow:
                self._tools.planned.add_sitemaps(self._tools.sitemaps.found_feeds(visit.url, page.feeds))

    def _take_feed(self, visit: Visit, content: SitemapContent) -> None:
        """Take the entries of a feed that was fetched as a page, unless a header asks not to follow them."""
        tools, answer = self._tools, visit.answer
        if robots_tags(answer.all_headers("x-robots-tag"), tools.config.fetch.agent).nofollow:
            content = SitemapContent(problem="it asks robots not to follow its entries (nofollow)")
        tools.run.add(visit, tools.reader.feed(visit, content, tools.run.fresh, tools.config.parse.max_links))
        tools.planned.add(tools.sitemaps.changed(visit.url, content, int(answer.started)))

    def _take_sitemap(self, answer: Answer) -> None:
        self._tools.run.count("sitemaps")
        if answer.status != 200:
            self._read_sitemap(answer, None)
            return
        document = FetchedDocument(answer.url, answer.body)
        if not self._tools.parse_queue.submit(document, answer, is_sitemap=True):
            self._take_sitemap_content(answer, None)

    def _take_sitemap_content(self, answer: Answer, content: Parsed | SitemapContent | None) -> None:
        if not isinstance(content, SitemapContent):
            content = SitemapContent(problem=f"{answer.url}: {self._tools.parse_queue.refusal}")
        self._read_sitemap(answer, content)

    def _read_sitemap(self, answer: Answer, content: SitemapContent | None) -> None:
        further, changed = self._tools.sitemaps.read(answer, content, self._tools.run.fresh)
        self._tools.planned.add_sitemaps(further)
        self._tools.planned.add(changed)

    def _answer_failed(self, answer: Answer, purpose: RequestPurpose, error: Exception) -> None:
        """End a request whose answer caused an error in our code; other URLs of the host are not affected."""
        tools, handout = self._tools, purpose.handout
        if not self._is_reported:
            now = tools.clock.now()
            reply = reply_of(answer)
            if handout.action is Action.ROBOTS:
                closed = replace(
                    robots_for_status(None, b"", tools.config.fetch.agent), note=reason_of(error, answer.url)
                )
                tools.queue.robots_finished(handout, now, reply, closed)
            else:
                tools.queue.finished(handout, now, reply)
        if answer.request.kind is RequestKind.SITEMAP:
            tools.planned.add_sitemaps(tools.sitemaps.skip(answer.url))
        if purpose.key is not None and purpose.entry is not None:
            self._parsed_failed(Visit(purpose.key, handout.url, purpose.entry, answer), error)
        else:
            tools.run.count(INTERNAL_ERRORS)

    def _parsed_failed(self, tag: Visit | Answer, error: Exception) -> None:
        self._tools.run.count(INTERNAL_ERRORS)
        if isinstance(tag, Visit):
            self._fail(tag, reason_of(error, tag.url))
        else:
            self._tools.planned.add_sitemaps(self._tools.sitemaps.skip(tag.url))

    def _fail(self, visit: Visit, reason: str) -> None:
        """Record that a fetched page could not be read; it is fetched again later."""
        answer, depth = visit.answer, visit.entry.depth
        outcome = Outcome(Kind.FAILED, int(answer.started), code=answer.status, reason=reason, depth=depth)
        self._tools.run.fail(visit, outcome)


def reply_of(answer: Answer) -> Reply:
    """Return the part of an answer from which the polite queue learns how its host is doing."""
    return Reply(
        host_status(answer),
        answer.seconds,
        answer.retry_after,
        answer.ip,
        is_our_fault(answer),
        reason_of_failure(answer),
    )


def to_parse(visit: Visit, blocks: RunBlocks) -> FetchedDocument:
    """Return the parts of an answer that the parser needs, and which blocks are repeated on its host."""
    answer = visit.answer
    return FetchedDocument(
        answer.url,
        answer.body,
        answer.content_type,
        answer.header("content-language") or "",
        tuple(answer.all_headers("x-robots-tag")),
        int(answer.started),
        blocks.known.repeated(host_of(answer.url)),
        blocks.wants(visit.key),
    )
