"""The heart of a fetch task: hands out URLs politely, takes the answers, and saves what they give.

One thread does it all. libcurl carries hundreds of transfers, a helper process parses (text/guard.py), and in
between pages are judged, archived and indexed. Nothing waits for a single host: a dead one costs its own
time-outs, and when the round is over what is under way is given up and stays due.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.errands import Errand, robots_request
from crawlctl.pipeline.fetch.outcomes import has_content, host_status, outcome_of
from crawlctl.pipeline.fetch.pages import Visit
from crawlctl.pipeline.fetch.progress import Standing
from crawlctl.pipeline.net.answer import Kind as For
from crawlctl.pipeline.net.answer import Request
from crawlctl.pipeline.net.hosts import host_of, url_of_key
from crawlctl.pipeline.net.politeness import Action, Reply
from crawlctl.pipeline.net.robots import MAX_REDIRECTS, robots_for_status
from crawlctl.pipeline.text.document import Document
from crawlctl.pipeline.webdb.records import Kind, Outcome, decode_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.fetch.pages import PageReader
    from crawlctl.pipeline.fetch.progress import Progress
    from crawlctl.pipeline.fetch.run import RunBuffer
    from crawlctl.pipeline.fetch.selection import Due
    from crawlctl.pipeline.fetch.sitemaps import Sitemaps
    from crawlctl.pipeline.net.answer import Answer
    from crawlctl.pipeline.net.engine import Engine
    from crawlctl.pipeline.net.hoststate import HostState
    from crawlctl.pipeline.net.politeness import Handout, PoliteQueue
    from crawlctl.pipeline.text.document import Parsed
    from crawlctl.pipeline.text.guard import Guard

SITEMAP_PRIORITY = 0.75  # behind the seeds and before what they link to
_TICK = 1.0  # seconds between two looks at the clock
_PARSING_TICK = 0.005  # while the helper parses, whose answers come by another way
_MAX_BACKLOG = 32 << 20  # bytes of bodies that wait for the helper


@dataclass(frozen=True)
class Bounds:
    """What ends a task before its URLs do."""

    deadline: float
    max_pages: int
    max_bytes: int
    should_stop: Callable[[], bool]


@dataclass(frozen=True)
class Crew:
    """Those who do the work."""

    engine: Engine
    guard: Guard
    queue: PoliteQueue
    reader: PageReader
    sitemaps: Sitemaps
    run: RunBuffer


class FetchLoop:
    """Fetches what is planned, until it is done or the round is over."""

    def __init__(self, config: Config, crew: Crew, bounds: Bounds, progress: Progress) -> None:
        self._config = config
        self._crew = crew
        self._bounds = bounds
        self._progress = progress
        self._planned: dict[str, Due] = {}
        self._total = 0
        self._parsing: deque[Visit] = deque()
        self._backlog = 0
        self._touched: set[str] = set()
        self._told = 0.0

    def plan(self, urls: Iterable[Due]) -> None:
        """Queue URLs as far as the page budget goes, the first ones first."""
        for due in urls:
            url = url_of_key(due.key)
            if self._total < self._bounds.max_pages and self._crew.queue.add(url, due.score):
                self._planned[url] = due
                self._total += 1

    def fetch(self) -> None:
        """Work until nothing is left to be done or the time is over; the run is left to be saved."""
        while not self._is_over():
            self._hand_out()
            if self._is_idle():
                break
            self._take_answers()
            if self._parsing:
                self._take_pages(0.0)
            while self._backlog > _MAX_BACKLOG:
                self._take_pages(_TICK)
            if self._crew.run.is_full:
                self.save()
            self._tell()
        self._finish()

    def save(self) -> None:
        """Save the run with the states of the hosts that were asked since the last time."""
        states = ((host, state) for host, state in self._crew.queue.states() if host in self._touched)
        self._crew.run.save(states)
        self._touched.clear()

    def _is_over(self) -> bool:
        return time.time() >= self._bounds.deadline or self._bounds.should_stop()

    def _has_budget(self) -> bool:
        return self._crew.run.bytes < self._bounds.max_bytes

    def _is_idle(self) -> bool:
        """Whether nothing is under way and nothing can begin before the round is over."""
        if self._crew.engine.in_flight or self._parsing:
            return False
        nearest = self._crew.queue.next_time()
        return nearest is None or nearest >= self._bounds.deadline or not self._has_budget()

    def _hand_out(self) -> None:
        engine, limit = self._crew.engine, self._config.fetch.connections
        while engine.in_flight < limit and self._has_budget():
            handout = self._crew.queue.next_ready(time.time())
            if handout is None:
                return
            if handout.action is Action.ROBOTS:
                engine.submit(robots_request(handout.url, Errand(handout)))
            elif handout.action is Action.PAGE:
                engine.submit(self._page_request(handout))
            else:
                self._judge(handout.url, Kind.DISALLOWED, f"robots.txt: {handout.rule}")
                self._queue_sitemaps(self._crew.sitemaps.skip(handout.url))

    def _judge(self, url: str, kind: Kind, reason: str) -> None:
        """Keep what is to be said of a planned URL that is not fetched."""
        if due := self._planned.pop(url, None):
            self._crew.run.judge(
                due.key, Outcome(kind, int(time.time()), reason=reason, depth=-due.minus_depth)
            )

    def _page_request(self, handout: Handout) -> Request:
        due = self._planned.pop(handout.url, None)
        errand = Errand(handout, due and due.key, due and decode_entry(due.value))
        if handout.url in self._crew.sitemaps:
            return Request(handout.url, For.SITEMAP, max_bytes=self._config.sitemaps.max_bytes, tag=errand)
        etag, last_modified = errand.entry.validators if errand.entry else ("", "")
        return Request(handout.url, etag=etag or None, last_modified=last_modified or None, tag=errand)

    def _take_answers(self) -> None:
        wait = _PARSING_TICK if self._parsing else _TICK
        nearest = self._crew.queue.next_time()
        if nearest is not None and self._crew.engine.in_flight < self._config.fetch.connections:
            wait = min(wait, max(0.0, nearest - time.time()))
        if self._parsing and not self._crew.engine.in_flight:
            self._take_pages(wait)
        else:
            self._take(self._crew.engine.poll(wait))

    def _take(self, answers: Iterable[Answer]) -> None:
        for answer in answers:
            errand: Errand = answer.request.tag
            self._touched.add(errand.handout.host)
            if errand.handout.action is Action.ROBOTS:
                self._take_robots(answer, errand)
            else:
                self._take_answer(answer, errand)

    def _take_robots(self, answer: Answer, errand: Errand) -> None:
        seconds = errand.seconds + answer.timing.total
        if answer.redirect and errand.hops < MAX_REDIRECTS:
            further = errand._replace(hops=errand.hops + 1, seconds=seconds)
            self._crew.engine.submit(robots_request(answer.redirect, further))
            return
        answered = answer.error is None or 300 <= answer.status < 400
        status = answer.status if answered else None
        robots = robots_for_status(status, answer.body, self._config.fetch.agent)
        reply = Reply(status, seconds, answer.retry_after)
        self._crew.queue.robots_finished(errand.handout, time.time(), reply, robots)
        self._crew.run.count("robots")
        if robots.sitemaps:
            self._queue_sitemaps(self._crew.sitemaps.named(errand.handout.url, robots.sitemaps))

    def _take_answer(self, answer: Answer, errand: Errand) -> None:
        reply = Reply(host_status(answer), answer.timing.total, answer.retry_after)
        self._crew.queue.finished(errand.handout, time.time(), reply)
        if answer.request.kind is For.SITEMAP:
            self._crew.run.count("sitemaps")
            found, changed = self._crew.sitemaps.read(answer, self._crew.run.fresh)
            self._queue_sitemaps(found)
            self.plan(changed)
        if errand.key is None or errand.entry is None:
            return
        visit = Visit(errand.key, errand.handout.url, errand.entry, answer)
        if has_content(answer):
            self._parsing.append(visit)
            self._backlog += len(answer.body)
            self._crew.guard.submit(_to_parse(answer))
            return
        outcome = outcome_of(answer, errand.entry.depth)
        if outcome.target:
            self._crew.reader.redirected(visit, outcome.target, self._crew.run.fresh)
        self._crew.run.add(visit, outcome)

    def _queue_sitemaps(self, urls: Iterable[str]) -> None:
        for url in urls:
            # One that is also to be fetched as a page is recognised when its turn comes.
            self._crew.queue.add(url, SITEMAP_PRIORITY)

    def _take_pages(self, wait: float) -> None:
        for parsed in self._crew.guard.collect(wait):
            self._take_page(self._parsing.popleft(), parsed)

    def _take_page(self, visit: Visit, parsed: Parsed) -> None:
        self._backlog -= len(visit.answer.body)
        outcome, document = self._crew.reader.read(visit, parsed, self._crew.run.fresh)
        self._crew.run.add(visit, outcome, document)

    def _finish(self) -> None:
        """Give up what is under way, take what has come, and judge what cannot be had in this state."""
        self._crew.engine.cancel_all()
        self._take(self._crew.engine.poll(0.0))
        self._crew.engine.cancel_all()
        while self._parsing:
            self._take_pages(_TICK)
        states = dict(self._crew.queue.states())
        for url, reason in self._out_of_reach(states):
            self._judge(url, Kind.FAILED, reason)

    def _out_of_reach(self, states: dict[str, HostState]) -> Iterator[tuple[str, str]]:
        """Yield the URLs that were not tried because their host is down, and why.

        They count as failed, or a dead host would have all its pages due in each round for ever.
        """
        for url, reason in self._crew.queue.left_over():
            state = states[host_of(url)]
            known = state.robots.get(url.partition(":")[0])
            if state.failures >= self._config.politeness.max_failures or (known and known.robots.try_later):
                yield url, reason

    def _tell(self) -> None:
        if time.monotonic() - self._told < _TICK:
            return
        self._told = time.monotonic()
        waiting, run = self._crew.queue.waiting(time.time()), self._crew.run
        self._progress(
            Standing(
                pages=run.pages,
                bytes=run.bytes,
                errors=run.errors,
                planned=self._total,
                in_flight=self._crew.engine.in_flight,
                hosts_waiting=waiting.paused,
                runs=run.runs,
                nearest=waiting.next_time,
            )
        )


def _to_parse(answer: Answer) -> Document:
    return Document(
        answer.url,
        answer.body,
        answer.content_type,
        answer.header("content-language") or "",
        tuple(answer.all_headers("x-robots-tag")),
    )
