"""The main loop of a fetch task: starts requests politely, takes answers, saves runs in time.

One thread does all of this. libcurl runs hundreds of transfers, a helper process parses (text/guarded), and
between two calls pages are judged, archived and indexed. The loop never waits for one host: a dead host costs
only its own time-outs, and a host with slow pages only its own share of the helper. When the round is over,
complete pages are saved at once; unfinished transfers are stopped, and their URLs stay due.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.fetch.loop.answer_handler import AnswerHandler
from crawlctl.pipeline.fetch.loop.host_progress import HostWatch
from crawlctl.pipeline.fetch.loop.planned_urls import RequestPurpose, robots_request
from crawlctl.pipeline.fetch.loop.round_tail import is_tail
from crawlctl.pipeline.politeness.handout import Action, Fate
from crawlctl.pipeline.progress.task_file import MOST_URLS, UrlProgress
from crawlctl.pipeline.webdb.records import Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.fetch.loop.task_tools import TaskTools
    from crawlctl.pipeline.fetch.pages.page_reader import Visit
    from crawlctl.pipeline.progress.task_file import Progress

_TICK = 1.0  # seconds between two checks of the clock
_PARSING_TICK = 0.005  # the same while the helper parses, because its results do not wake the engine
_LAST_TICK = 0.1
_LONGEST_HANDOUT = 1.0  # seconds; URLs that robots.txt forbids need no connection, and there may be very many
# When only slow hosts are left:
_SOON = 5.0  # seconds; the task waits only for answers and ends of back-offs that are nearer than this
_LAST_ANSWERS = 7.0  # seconds; the task waits no longer than this for any answer
_LAST_PARSING = 2.0  # seconds to parse the last pages when the round is over; a kill follows after ten
# the kinds of outcomes of URLs that were not tried
_KINDS = {Fate.FAILED: Kind.FAILED, Fate.EXCLUDED: Kind.EXCLUDED}
ENDED_BY = "ended by "  # the beginning of the counters of limits; the name of the setting follows


@dataclass(frozen=True)
class Bounds:
    """The limits that end a task before all its URLs are fetched."""

    deadline: float  # the latest end, by the clock of the task
    max_bytes: int
    should_stop: Callable[[], bool]
    handled: int = 0  # URLs that earlier attempts have handled in this round


class FetchLoop:
    """Fetches all planned URLs of a task, until none is left or the round is over."""

    def __init__(self, tools: TaskTools, bounds: Bounds, progress: Callable[[Progress], None]) -> None:
        self._tools = tools
        self._clock = tools.clock
        self._bounds = bounds
        self._progress = progress
        self._answers = AnswerHandler(tools)
        self._connections = tools.engine.connections
        self._reported_at = 0.0
        self._hosts = HostWatch(tools.queue)

    def parse_archived(self, visits: Iterable[Visit]) -> None:
        """Parse the pages that an earlier attempt has archived; call this before URLs are planned."""
        for visit in visits:
            if self._is_over():
                return
            self._tools.planned.skip_archived(visit.key)
            self._answers.parse_archived(visit)
            while self._tools.parse_queue.is_full and not self._is_over():
                self._take_parsed(_TICK)

    def resume_sitemaps(self, hosts: Iterable[str]) -> None:
        """Queue the sitemaps of hosts whose sitemaps are due."""
        for host in hosts:
            self._tools.planned.add_sitemaps(self._tools.sitemaps.resume(host))

    def fetch(self) -> None:
        """Work until nothing is left to do or the round is over; `finish` saves the rest of the results."""
        while not self._is_over():
            self._tools.heartbeat.beat()
            self._tools.following.tend(self._clock.now(), len(self._tools.parse_queue))
            self._hand_out()
            if self._is_idle() and not self._goes_on():
                break
            if self._is_tail_over():
                self._tools.run.count(ENDED_BY + "round.tail")
                self._see_off()
                break
            self._wait()
            self._report()
        self._count_limits()
        self._tools.following.withdraw()
        self._break_off()
        if self._tools.parse_queue:
            self._tools.saver.save_early()
        self._parse_a_little()

    def finish(self) -> None:
        """Save the results, and say that the task has ended; nothing is parsed any more."""
        for url, kind, reason in self._out_of_reach():
            self._judge(url, kind, reason)
        self._tools.saver.save_last(self._clock.now())
        with self._tools.heartbeat.own_work():
            self._tools.tail.ended(has_work=self._has_found_work())
        self._report(at_once=True)

    def _is_over(self) -> bool:
        return self._clock.now() >= self._bounds.deadline or self._bounds.should_stop()

    def _has_budget(self) -> bool:
        return self._tools.run.received < self._bounds.max_bytes

    def _count_limits(self) -> None:
        """Count the limits of the round that have ended this task; a signal is not such a limit."""
        nearest = self._tools.queue.next_time()
        last = self._clock.now() if nearest is None else max(self._clock.now(), nearest)
        reached = {
            "round.max_time": last >= self._bounds.deadline,  # or no host may be asked before it
            "round.max_bytes": not self._has_budget(),
            "round.max_pages": self._tools.planned.is_full,
        }
        for setting, is_reached in reached.items():
            self._tools.run.count(ENDED_BY + setting, int(is_reached))

    def _is_idle(self) -> bool:
        """Return whether nothing is in progress and nothing can start before the round is over."""
        if self._tools.engine.in_flight or self._tools.parse_queue:
            return False
        nearest = self._tools.queue.next_time()
        if nearest is None or nearest >= self._bounds.deadline or not self._has_budget():
            return True
        # If the page budget is used up, other URLs are left too, so the task does not wait for failing hosts.
        queue, is_full = self._tools.queue, self._tools.planned.is_full
        patience = _SOON if is_full and queue.has_answer else queue.patience()
        return nearest > self._clock.now() + patience and queue.only_failing_hosts_wait()

    def _goes_on(self) -> bool:
        """Return whether a task with nothing left to do goes on with URLs that it has found."""
        return self._has_budget() and self._tools.following.goes_on(self._clock.now())

    def _is_tail_over(self) -> bool:
        """Return whether all tasks only wait for slow hosts, and the next round has work on other hosts."""
        if self._tools.parse_queue:
            return False
        with self._tools.heartbeat.own_work():
            return self._tools.tail.is_over(self._wait_ahead, self._has_found_work, self._only_fails)

    def _see_off(self) -> None:
        """Wait for the answers that should arrive within seconds, when the round ends early.

        A request should not be wasted if its answer is only seconds away. But the other tasks wait meanwhile.
        So a transfer that needs longer is stopped, and its URL stays due. It gets enough time in a round that
        does not end early: the last round of a run, and a round in which no other host has work.
        """
        soon = self._tools.queue.answering(self._clock.now(), _SOON)
        end = time.monotonic() + _LAST_ANSWERS
        while any(host.in_flight for host in soon) and time.monotonic() < end and not self._is_over():
            self._tools.heartbeat.beat()
            self._wait(asks=False)
            self._report()

    def _wait_ahead(self) -> float | None:
        """Return how many seconds the slow hosts still need, None while the task is busy with many hosts."""
        rest = self._tools.following.rest(self._clock.now())
        return rest.seconds if is_tail(rest, self._connections) else None

    def _only_fails(self) -> bool:
        """Return whether all hosts that are left have failed, and none of them is asked now."""
        queue = self._tools.queue
        if self._tools.engine.in_flight or queue.next_time() is None:
            return False
        return queue.only_failing_hosts_wait()

    def _has_found_work(self) -> bool:
        """Return whether new URLs were found on hosts that the task does not wait for."""
        following = self._tools.following
        waiting = following.rest(self._clock.now()).hosts
        return following.has_found_work(self._tools.new_hosts, waiting)

    def _hand_out(self) -> None:
        """Start requests for all hosts whose turn it is, as long as connections are free."""
        engine, queue = self._tools.engine, self._tools.queue
        end = time.monotonic() + _LONGEST_HANDOUT
        while self._may_ask() and time.monotonic() < end:
            handout = queue.next_ready(self._clock.now())
            if handout is None:
                return
            if handout.action is Action.ROBOTS:
                engine.submit(robots_request(handout.url, RequestPurpose(handout)))
            elif handout.action is Action.PAGE:
                engine.submit(self._tools.planned.request_for(handout))
            else:
                self._judge(handout.url, Kind.DISALLOWED, f"robots.txt: {handout.rule}")
                self._tools.planned.add_sitemaps(self._tools.sitemaps.skip(handout.url))

    def _may_ask(self) -> bool:
        """Return whether the task has a connection, memory and bytes left for another request."""
        is_free = self._tools.engine.in_flight < self._connections
        return is_free and not self._tools.parse_queue.is_full and self._has_budget()

    def _judge(self, url: str, kind: Kind, reason: str) -> None:
        """Record the outcome of a planned URL that is not fetched."""
        if due := self._tools.planned.take(url):
            outcome = Outcome(kind, int(self._clock.now()), reason=reason, depth=-due.minus_depth)
            self._tools.run.judge(due.key, outcome)

    def _wait(self, *, asks: bool = True) -> None:
        """Take the next answers and parsed pages; save the run if it is full or round.flush_time is over.

        If the task still starts requests (`asks`), it waits no longer than until the next host may be asked.
        """
        engine, parse_queue = self._tools.engine, self._tools.parse_queue
        wait = _PARSING_TICK if parse_queue and engine.in_flight else min(_TICK, self._tools.tail.pause)
        nearest = self._tools.queue.next_time()
        if asks and nearest is not None and self._may_ask():
            wait = min(wait, max(0.0, nearest - self._clock.now()))
        if engine.in_flight or not parse_queue:
            self._answers.take(engine.poll(wait))
            wait = 0.0
        self._take_parsed(wait)
        self._tools.saver.save_if_full()

    def _take_parsed(self, wait: float) -> None:
        self._tools.heartbeat.beat()
        for _ in self._answers.take_parsed(wait):
            self._tools.saver.save_if_full()

    def _break_off(self) -> None:
        """Stop all transfers, and handle the answers and parsed pages that have arrived."""
        engine, answers = self._tools.engine, self._answers
        stopped = engine.cancel_all()
        answers.take(engine.poll(0.0))
        # The redirect of a robots.txt may have started another request.
        answers.break_off([*stopped, *engine.cancel_all()])
        self._take_parsed(0.0)

    def _parse_a_little(self) -> None:
        """Parse waiting pages for a short time, but no slow pages.

        Pages that are not parsed stay due. They are in the archive, where another attempt at this round finds
        them.
        """
        end = time.monotonic() + _LAST_PARSING
        while self._tools.parse_queue and time.monotonic() < end:
            self._tools.parse_queue.skip_slow()
            self._take_parsed(_LAST_TICK)

    def _out_of_reach(self) -> Iterator[tuple[str, Kind, str]]:
        """Yield the URLs that were not tried because their host is down or must not be asked, and why.

        URLs of a host that is down count as failed. Otherwise they would all be due in each round, forever.
        """
        for url, reason, fate in self._tools.queue.left_over():
            if fate is not Fate.DUE:
                yield url, _KINDS[fate], reason

    def _report(self, *, at_once: bool = False) -> None:
        """Report the progress, about once per second."""
        if not at_once and time.monotonic() - self._reported_at < _TICK:
            return
        self._reported_at = time.monotonic()
        run, before = self._tools.run, self._bounds.handled
        self._progress(
            replace(
                self._hosts.look(self._clock.now(), at_once=at_once),
                done=before + run.handled,
                earlier=before,
                total=before + self._tools.planned.total,
                bytes=run.received,
                errors=run.errors,
                failures=run.failures,
                urls=tuple(UrlProgress(url, since) for url, since in self._tools.engine.oldest(MOST_URLS)),
            )
        )
