"""The heart of a fetch task: hands out URLs politely, waits for answers, and sees to it that they are saved.

One thread does it all. libcurl carries hundreds of transfers, a helper process parses (guard.py), and in
between pages are judged, archived and indexed. Nothing waits for a single host: a dead one costs its own
time-outs, one with pages that are hard to parse its own share of the helper. When the round is over, what is
whole is saved at once, and what is under way is given up and stays due.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.loop.answer_handler import AnswerHandler
from crawlctl.pipeline.fetch.loop.fetch_progress import Standing
from crawlctl.pipeline.fetch.loop.planned_urls import RequestPurpose, robots_request
from crawlctl.pipeline.fetch.loop.round_tail import is_tail
from crawlctl.pipeline.http.exchange import Request, RequestKind
from crawlctl.pipeline.politeness.host_queue import ROUND_ENDED
from crawlctl.pipeline.politeness.polite_queue import Action, Fate
from crawlctl.pipeline.urls.hosts import url_of_key
from crawlctl.pipeline.webdb.records import Kind, Outcome, decode_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.fetch.loop.fetch_progress import Progress
    from crawlctl.pipeline.fetch.loop.task_tools import TaskTools
    from crawlctl.pipeline.fetch.pages.page_reader import Visit
    from crawlctl.pipeline.fetch.select.selection import Due
    from crawlctl.pipeline.politeness.host_state import HostState
    from crawlctl.pipeline.politeness.polite_queue import Handout

_TICK = 1.0  # seconds between two looks at the clock
_PARSING_TICK = 0.005  # while the helper parses, whose answers come by another way
_LAST_TICK = 0.1
_LONGEST_HANDOUT = 1.0  # seconds; URLs that robots.txt forbids take no connection, and there may be very many
_SOON = 5.0  # seconds; an answer that needs longer is not waited for when only slow hosts are left,
_LAST_ANSWERS = 7.0  # and no answer for longer than this
_LAST_PARSING = 2.0  # seconds for pages that wait to be parsed when the round is over, of ten before a kill
_KINDS = {Fate.FAILED: Kind.FAILED, Fate.EXCLUDED: Kind.EXCLUDED}  # of URLs that were not tried


@dataclass(frozen=True)
class Bounds:
    """What ends a task before its URLs do."""

    deadline: float  # by the clock of the task
    max_pages: int
    max_bytes: int
    should_stop: Callable[[], bool]


class FetchLoop:
    """Fetches what is planned, until it is done or the round is over."""

    def __init__(self, tools: TaskTools, bounds: Bounds, progress: Progress) -> None:
        self._tools = tools
        self._clock = tools.clock
        self._bounds = bounds
        self._progress = progress
        self._answers = AnswerHandler(tools, self.plan)
        self._connections = tools.engine.connections
        self._planned: dict[str, Due] = {}
        self.archived: set[bytes] = set()  # pages that need not be asked for
        self._total = 0
        self._told = 0.0

    def plan(self, urls: Iterable[Due]) -> None:
        """Queue URLs as far as the page budget goes, the first ones first."""
        for due in urls:
            url, has_room = url_of_key(due.key), self._total < self._bounds.max_pages
            if due.key not in self.archived and has_room and self._tools.queue.add(url, due.score):
                self._planned[url] = due
                self._total += 1

    def parse_archived(self, visits: Iterable[Visit]) -> None:
        """Have pages parsed that an earlier attempt has archived; call it before those are planned."""
        for visit in visits:
            if self._is_over():
                return
            self.archived.add(visit.key)
            self._total += 1
            self._answers.parse_archived(visit)
            while self._answers.parsing.is_full and not self._is_over():
                self._take_parsed(_TICK)

    def resume_sitemaps(self, hosts: Iterable[str]) -> None:
        """Queue the sitemaps of hosts whose sitemaps are due."""
        for host in hosts:
            self._answers.queue_sitemaps(self._tools.sitemaps.resume(host))

    def fetch(self) -> None:
        """Work until nothing is left to be done or the round is over, and save what came of it."""
        while not self._is_over():
            self._tools.heartbeat.beat()
            self._hand_out()
            if self._is_idle():
                break
            if self._is_tail_over():
                self._see_off()
                break
            self._wait()
            self._tell()
        self._break_off()
        self._save_at_once()
        self._parse_a_little()
        for url, kind, reason in self._out_of_reach():
            self._judge(url, kind, reason)
        self._save_last()
        with self._tools.heartbeat.own_work():
            self._tools.tail.ended(has_work=self._has_found_work())
        self._tell(at_once=True)

    def _is_over(self) -> bool:
        return self._clock.now() >= self._bounds.deadline or self._bounds.should_stop()

    def _has_budget(self) -> bool:
        return self._tools.run.received < self._bounds.max_bytes

    def _is_idle(self) -> bool:
        """Whether nothing is under way and nothing can begin before the round is over."""
        if self._tools.engine.in_flight or self._answers.parsing:
            return False
        nearest = self._tools.queue.next_time()
        if nearest is None or nearest >= self._bounds.deadline or not self._has_budget():
            return True
        queue = self._tools.queue
        return nearest > self._clock.now() + queue.patience() and queue.only_failing_hosts_wait()

    def _is_tail_over(self) -> bool:
        """Whether all tasks only wait for slow hosts, and others have work in the next round."""
        if self._answers.parsing:
            return False
        with self._tools.heartbeat.own_work():
            return self._tools.tail.is_over(self._wait_ahead, self._has_found_work)

    def _see_off(self) -> None:
        """Take the answers that are about to come when only slow hosts are waited for.

        A host is not to be asked in vain for the sake of a few seconds. But others wait meanwhile, so what
        would take longer is broken off and stays due. It has its time in a round in which nobody else has
        work, and in the last one of a run, for those are not cut short.
        """
        soon = self._tools.queue.answering(self._clock.now(), _SOON)
        end = time.monotonic() + _LAST_ANSWERS
        while any(host.in_flight for host in soon) and time.monotonic() < end and not self._is_over():
            self._tools.heartbeat.beat()
            self._wait(asks=False)
            self._tell()

    def _wait_ahead(self) -> float | None:
        """Return how many seconds slow hosts will take, None while the task is at work for many."""
        rest = self._tools.queue.rest(self._clock.now())
        return rest.seconds if is_tail(rest, self._tools.engine.in_flight, self._connections) else None

    def _has_found_work(self) -> bool:
        """Whether new URLs were found of hosts that the task does not wait for."""
        waiting = self._tools.queue.rest(self._clock.now()).hosts
        return any(host.decode("ascii") not in waiting for host in self._tools.new_hosts)

    def _hand_out(self) -> None:
        engine, queue = self._tools.engine, self._tools.queue
        end = time.monotonic() + _LONGEST_HANDOUT
        while self._may_ask() and time.monotonic() < end:
            handout = queue.next_ready(self._clock.now())
            if handout is None:
                return
            if handout.action is Action.ROBOTS:
                engine.submit(robots_request(handout.url, RequestPurpose(handout)))
            elif handout.action is Action.PAGE:
                engine.submit(self._page_request(handout))
            else:
                self._judge(handout.url, Kind.DISALLOWED, f"robots.txt: {handout.rule}")
                self._answers.queue_sitemaps(self._tools.sitemaps.skip(handout.url))

    def _may_ask(self) -> bool:
        """Whether another request can begin, as far as it is not for its host to say."""
        is_free = self._tools.engine.in_flight < self._connections
        return is_free and not self._answers.parsing.is_full and self._has_budget()

    def _page_request(self, handout: Handout) -> Request:
        due = self._planned.pop(handout.url, None)
        purpose = (
            RequestPurpose(handout, due.key, decode_entry(due.value)) if due else RequestPurpose(handout)
        )
        if handout.url in self._tools.sitemaps:
            most = self._tools.config.sitemaps.max_bytes
            return Request(handout.url, RequestKind.SITEMAP, max_bytes=most, tag=purpose)
        etag, last_modified = self._tools.validators.of(purpose.entry) if purpose.entry else ("", "")
        # One byte more than the limit, so that the parser sees a PDF that is too long and says so.
        max_pdf = self._tools.config.parse.max_pdf + 1
        return Request(
            handout.url,
            etag=etag or None,
            last_modified=last_modified or None,
            max_pdf_bytes=max_pdf,
            tag=purpose,
        )

    def _judge(self, url: str, kind: Kind, reason: str) -> None:
        """Keep what is to be said of a planned URL that is not fetched."""
        if due := self._planned.pop(url, None):
            outcome = Outcome(kind, int(self._clock.now()), reason=reason, depth=-due.minus_depth)
            self._tools.run.judge(due.key, outcome)

    def _wait(self, *, asks: bool = True) -> None:
        """Take the next answers and pages, and save the run when it is full or its time has come.

        Where the task still asks, it waits no longer than until the next host may be asked.
        """
        engine, desk = self._tools.engine, self._answers
        wait = _PARSING_TICK if desk.parsing and engine.in_flight else _TICK
        nearest = self._tools.queue.next_time()
        if asks and nearest is not None and self._may_ask():
            wait = min(wait, max(0.0, nearest - self._clock.now()))
        if engine.in_flight or not desk.parsing:
            desk.take(engine.poll(wait))
            wait = 0.0
        self._take_parsed(wait)
        self._save_if_full()

    def _take_parsed(self, wait: float) -> None:
        self._tools.heartbeat.beat()
        for _ in self._answers.take_parsed(wait):
            self._save_if_full()

    def _save_if_full(self) -> None:
        if self._tools.run.is_full:
            self._save()

    def _save(self) -> None:
        """Save the run with the states of the hosts that were asked since the last time."""
        self._save_with(self._tools.queue.states(self._touched()))

    def _save_at_once(self) -> None:
        """Save what is whole when the round is over, before time is spent on what waits to be parsed."""
        if self._answers.parsing:
            touched = self._touched()
            self._save()
            self._answers.touched |= touched  # the last save says more of them

    def _save_last(self) -> None:
        """Save the run when the round is over, and what was left of which host."""
        touched, now = self._touched(), self._clock.now()
        states = dict(self._tools.queue.states_at_the_end(touched))
        self._tools.run.count("left", sum(state.left for state in states.values()))
        self._tools.run.count("hosts_done", self._tools.queue.hosts_done())
        self._save_with(
            (host, state) for host, state in states.items() if host in touched or is_worth_telling(state, now)
        )

    def _touched(self) -> set[str]:
        """Return the hosts that were asked, or whose sitemaps were read, since the last save."""
        return self._answers.touched | self._tools.sitemaps.touched

    def _save_with(self, states: Iterable[tuple[str, HostState]]) -> None:
        sitemaps = self._tools.sitemaps
        with self._tools.heartbeat.own_work():
            self._tools.run.save((host, sitemaps.remembered(host, state)) for host, state in states)
        self._answers.touched.clear()
        sitemaps.touched.clear()

    def _break_off(self) -> None:
        """Break off what is under way and take what has come."""
        engine, answers = self._tools.engine, self._answers
        given_up = engine.cancel_all()
        answers.take(engine.poll(0.0))
        answers.break_off([*given_up, *engine.cancel_all()])  # a robots.txt may have led on
        self._take_parsed(0.0)

    def _parse_a_little(self) -> None:
        """Parse what waits for a short time, but nothing slow.

        The rest stays due, and in the archive for another attempt at this round.
        """
        end = time.monotonic() + _LAST_PARSING
        while self._answers.parsing and time.monotonic() < end:
            self._answers.parsing.skip_slow()
            self._take_parsed(_LAST_TICK)

    def _out_of_reach(self) -> Iterator[tuple[str, Kind, str]]:
        """Yield the URLs that were not tried because their host is down or may not be asked, and why.

        The former count as failed, or a dead host would have all its pages due in each round for ever.
        """
        for url, reason, fate in self._tools.queue.left_over():
            if fate is not Fate.DUE:
                yield url, _KINDS[fate], reason

    def _tell(self, *, at_once: bool = False) -> None:
        if not at_once and time.monotonic() - self._told < _TICK:
            return
        self._told = time.monotonic()
        waiting, run = self._tools.queue.waiting(self._clock.now()), self._tools.run
        self._progress(
            Standing(
                pages=run.pages,
                bytes=run.received,
                errors=run.errors,
                planned=self._total,
                in_flight=self._tools.engine.in_flight,
                hosts_waiting=waiting.paused,
                runs=run.runs,
                nearest=waiting.next_time,
            )
        )


def is_worth_telling(state: HostState, now: float) -> bool:
    """Return whether URLs of a host that nobody asked in this round wait because of the host itself."""
    return state.left > 0 and (state.not_before > now or state.left_reason != ROUND_ENDED)
