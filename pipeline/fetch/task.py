"""A fetch task from start to end: what is done for one partition in one round."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.clock import RunClock
from crawlctl.pipeline.config.units import Size
from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.fetch.heartbeat import Heartbeat
from crawlctl.pipeline.fetch.loop.fetch_loop import Bounds, FetchLoop
from crawlctl.pipeline.fetch.loop.outlink_following import Following
from crawlctl.pipeline.fetch.loop.outlinks import URL_BYTES, FollowLimits, Outlinks, deepest_to_follow
from crawlctl.pipeline.fetch.loop.parse_queue import ParseQueue
from crawlctl.pipeline.fetch.loop.planned_urls import PlannedUrls
from crawlctl.pipeline.fetch.loop.round_tail import RoundTail
from crawlctl.pipeline.fetch.loop.task_tools import TaskTools
from crawlctl.pipeline.fetch.pages.discovery import Discovery
from crawlctl.pipeline.fetch.pages.lookalikes import Lookalikes
from crawlctl.pipeline.fetch.pages.page_reader import PageReader, Visit
from crawlctl.pipeline.fetch.pages.sitemap_queue import SitemapQueue
from crawlctl.pipeline.fetch.save.adoption import (
    adopt_runs,
    due_sitemaps,
    found_urls,
    host_states,
    remember_runs,
)
from crawlctl.pipeline.fetch.save.archive import Archive
from crawlctl.pipeline.fetch.save.run_buffer import BYTES, PAGES, RunBuffer
from crawlctl.pipeline.fetch.save.run_saver import RunSaver
from crawlctl.pipeline.fetch.save.unparsed import has_unparsed, unparsed_answers
from crawlctl.pipeline.fetch.select.selection import Selection
from crawlctl.pipeline.fetch.select.site_budgets import SiteBudgets, smallest_budget
from crawlctl.pipeline.fetch.select.survey import Survey
from crawlctl.pipeline.fetch.select.validators import Validators
from crawlctl.pipeline.http.engine import Engine
from crawlctl.pipeline.politeness.polite_queue import PoliteQueue
from crawlctl.pipeline.politeness.rules_memory import RuleMemory
from crawlctl.pipeline.processes.cores import usable_cores
from crawlctl.pipeline.processes.shared_slots import SharedSlots
from crawlctl.pipeline.progress.task_file import Progress
from crawlctl.pipeline.robots.robots import INDEXES
from crawlctl.pipeline.scope.belonging import belonging
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.state.snapshots import load_snapshot
from crawlctl.pipeline.terminal.counted import by_number, counted
from crawlctl.pipeline.text.documents.document import ParseRules
from crawlctl.pipeline.text.guarded.guard import Guard
from crawlctl.pipeline.text.words.explicit import ExplicitLists
from crawlctl.pipeline.text.words.focus import focus_of
from crawlctl.pipeline.urls.hosts import host_in_key, host_of_key, partition_of, url_of_key
from crawlctl.pipeline.webdb.entries import first_entry
from crawlctl.pipeline.webdb.part import PartRows
from crawlctl.pipeline.webdb.records import Kind, Outcome, decode_entry, encode
from crawlctl.pipeline.webdb.repeated.block_table import KnownBlocks, known_blocks
from crawlctl.pipeline.webdb.seed_hosts import seed_hosts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crawlctl.pipeline.config.settings import Config, FetchSettings
    from crawlctl.pipeline.fetch.order import FetchOrder
    from crawlctl.pipeline.fetch.save.adoption import Adopted
    from crawlctl.pipeline.fetch.save.run_buffer import Builder
    from crawlctl.pipeline.fetch.select.selection import Due
    from crawlctl.pipeline.politeness.host_state import HostState
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import Fresh

# Each constant n gives 1/n of round.task_memory. The selected URLs take 1/8, and the polite queue about as
# much again. The bodies being received take 1/8.
_SELECTION_SHARE = 8
_BODIES_SHARE = 8
# The rules of large robots.txt files: packed, and unpacked for matching.
_RULES_SHARE = 16
_INDEXES_SHARE = 32
_OUTLINKS_SHARE = 16  # the URLs that the task has found and may fetch in the same round


def fetch_partition(
    order: FetchOrder,
    store: Store,
    *,
    new_builder: Callable[[], Builder] | None = None,
    progress: Callable[[Progress], None] = lambda _progress: None,
    should_stop: Callable[[], bool] = lambda: False,
    avoid: Mapping[str, str] | None = None,
    heartbeat: Heartbeat | None = None,
    clock: RunClock | None = None,
) -> list[FileEntry]:
    """Fetch the due URLs of a partition; return the files of all its runs in this round.

    The runs of earlier attempts are included. `progress` is called about once per second. When `should_stop`
    returns True, the task ends as if its deadline had come: finished pages are saved, the rest stays due. The
    hosts in `avoid` are not asked; their pages count as failed, with the reason given there.
    """
    task = _Task(
        order,
        store,
        new_builder or _index_builder(),
        avoid=avoid or {},
        heartbeat=heartbeat or Heartbeat(),
        clock=clock or RunClock(),
    )
    due = task.select()
    if due or task.sitemaps or task.found_before:
        task.fetch(due, progress, should_stop)
    else:
        progress(task.done_before())
        task.tail.ended(has_work=False)
    return [*task.adopted.files, *task.run.saved]


class _Task:
    """Builds the parts of a fetch task from its order, and runs them in turn."""

    def __init__(
        self,
        order: FetchOrder,
        store: Store,
        new_builder: Callable[[], Builder],
        *,
        avoid: Mapping[str, str],
        heartbeat: Heartbeat,
        clock: RunClock,
    ) -> None:
        self.clock = clock
        self.tail = RoundTail(store, order)
        self.tail.begin()
        self.avoid = avoid
        self.archived: set[bytes] = set()  # keys of pages that an earlier attempt archived: no request
        self.heartbeat = heartbeat
        self.order = order
        self.store = store
        self.config: Config = order.config
        self.snapshot = load_snapshot(store, order.snapshot)
        self.adopted: Adopted = adopt_runs(store, order.round, order.partition)
        archive = Archive(store, self.config.fetch, order.partition, order.round, heartbeat.own_work)
        known = self._known_blocks()
        self.run = RunBuffer(store, order, self.config, new_builder, archive=archive, known=known)
        self.rows = PartRows(store, self.snapshot, order.partition, heartbeat.own_work)
        self.survey = Survey(self.rows, smallest_budget(self.config.budgets))
        self.pages_left = max(0, order.max_pages - self.adopted.counts[PAGES])
        sitemaps = due_sitemaps(
            store,
            self.snapshot,
            order.partition,
            self.adopted,
            settings=self.config.sitemaps,
            now=self.clock.now(),
        )
        self.sitemaps = [host for host in sitemaps if host not in avoid]
        self.found_before: dict[bytes, Fresh] = {}  # what earlier attempts have found and not fetched

    def _known_blocks(self) -> KnownBlocks:
        """Return what earlier rounds know about repeated blocks, also for hosts without due URLs."""
        if not self.config.parse.drop_repeated:
            return KnownBlocks()
        with self.heartbeat.own_work():
            return known_blocks(self.store, self.snapshot, self.order.partition)

    def select(self) -> list[Due]:
        """Return the URLs to fetch, the most important one first."""
        selection = Selection(
            int(self.clock.now()),
            self.pages_left,
            memory=self.config.round.task_memory // _SELECTION_SHARE,
            per_host=self.config.politeness.pages_per_host,
            done=self.adopted.done,
            shares=self.adopted.shares,
        )
        with self.heartbeat.own_work():
            self.survey.find(self.rows, selection)
            if self.config.round.follow_outlinks:
                most = self._outlinks_memory // URL_BYTES
                self.found_before = found_urls(
                    self.store, self.adopted, self.survey.known, self._is_own, most
                )
        return selection.finish()

    @property
    def _outlinks_memory(self) -> int:
        return self.config.round.task_memory // _OUTLINKS_SHARE

    def _is_own(self, host: str) -> bool:
        return partition_of(host, self.order.partitions) == self.order.partition

    def done_before(self) -> Progress:
        """Return the progress of a task whose URLs have all been handled by earlier attempts."""
        handled = len(self.adopted.done)
        return Progress(done=handled, total=handled, earlier=handled)

    def fetch(
        self, due: list[Due], progress: Callable[[Progress], None], should_stop: Callable[[], bool]
    ) -> None:
        """Fetch the URLs and save the results; after an error nothing half-written is left in the store."""
        config, order = self.config, self.order
        rules = ParseRules(
            *(config.parse, config.urls.strip_parameters, config.fetch.agent, config.sitemaps, config.sites)
        )
        bounds = Bounds(
            deadline=self.clock.deadline(order.deadline, order.fetch_time),
            max_bytes=order.max_bytes - self.adopted.counts[BYTES],
            should_stop=should_stop,
            handled=len(self.adopted.done),
        )
        scope = self._scope()
        # The guard forks its helper before the engine opens connections. Helpers close what they inherit.
        # The tasks of a machine share its cores: a task holds one for each of its helpers, if it can get one.
        with (
            closing(SharedSlots(order.progress, usable_cores())) as cores,
            Guard(rules, more_helpers=lambda: cores.hold(len(guard.lines) + 1)) as guard,
            Engine(self._transfers(), working_on=self.heartbeat.working_on) as engine,
        ):
            cores.hold(1)
            tools = self._tools(guard, engine, scope, due)
            loop = FetchLoop(tools, bounds, progress)
            try:
                loop.parse_archived(self._archived(scope, due))
                archived = tools.planned.archived
                tools.planned.add(self._within(scope, [one for one in due if one.key not in archived]))
                loop.resume_sitemaps(self.sitemaps)
                loop.fetch()
                # The last pages take a while to index and to save; other tasks may have the cores meanwhile.
                guard.close()
                cores.close()
                loop.finish()
            except StoreUnavailable as error:
                self.run.abandon(error)
                raise self._with_loss(error) from error
            except BaseException as error:
                self.run.abandon(error)
                raise

    def _with_loss(self, error: StoreUnavailable) -> StoreUnavailable:
        """Return the error of a store, with the number of pages that are lost because of it."""
        if not (pages := self.run.unsaved_pages):
            return error
        lost, again = counted(pages, "fetched page"), by_number(pages, "is", "are")
        where = f"of partition {self.order.partition} could not be saved"
        return type(error)(f"{lost} {where} and {again} due again: {error}")

    def _transfers(self) -> FetchSettings:
        fetch = self.config.fetch
        return replace(fetch, memory=Size(min(fetch.memory, self.config.round.task_memory // _BODIES_SHARE)))

    def _scope(self) -> Scope:
        hosts = self.order.seed_hosts
        if hosts is None and not self.config.scope.include:
            hosts = tuple(seed_hosts(self.store, self.snapshot))
        return Scope(self.config.scope, hosts or ())

    def _tools(self, guard: Guard, engine: Engine, scope: Scope, due: list[Due]) -> TaskTools:
        config, now = self.config, self.clock.now()
        hosts = {*self.sitemaps, *(host_of_key(one.key) for one in due)}
        hosts |= {host_of_key(key) for key in (*self.found_before, *self.adopted.done)}
        rules, states = self._host_states(hosts)
        queue = PoliteQueue(config.politeness, config.fetch.agent, states, now, self.order.tasks)
        sites = self._site_budgets(scope)
        outlinks = self._outlinks(due, hosts, scope) if config.round.follow_outlinks else None
        discovery = Discovery(
            *(config.scope, scope, sites, self.survey.known, self.run.count),
            focus=focus_of(config.focus),
            on_new=outlinks.add if outlinks else None,
        )
        sitemaps = SitemapQueue(
            config.sitemaps, discovery, self.rows, count=self.run.count, states=states, now=now
        )
        planned = PlannedUrls(queue, sitemaps, Validators(self.rows, due), config, self.pages_left)
        return TaskTools(
            config=config,
            clock=self.clock,
            queue=queue,
            planned=planned,
            following=Following(outlinks, planned, queue, self.order),
            engine=engine,
            parse_queue=ParseQueue(guard, queue, config.parse.host_time),
            reader=self._page_reader(discovery, sites),
            sitemaps=sitemaps,
            rules=rules,
            run=self.run,
            saver=RunSaver(self.run, queue, sitemaps, self.heartbeat),
            tail=self.tail,
            new_hosts=discovery.new_hosts,
            heartbeat=self.heartbeat,
        )

    def _outlinks(self, due: list[Due], hosts: set[str], scope: Scope) -> Outlinks:
        """Return an object that takes the URLs to follow: of hosts whose state was read, or new hosts."""
        config, known = self.config, self.survey.hosts

        def may_follow(host: str) -> bool:
            return self._is_own(host) and host not in self.avoid and (host in hosts or host not in known)

        depth, per_host = deepest_to_follow(config.scope.max_depth), config.politeness.pages_per_host
        limits = FollowLimits(depth, self._outlinks_memory, per_host)
        outlinks = Outlinks(self.run.fresh, may_follow, limits)
        outlinks.count(Counter(host_in_key(one.key) for one in due))
        outlinks.count(self.adopted.shares)
        found = self.found_before.items()  # perhaps under other settings
        outlinks.adopt(one for one in found if scope.verdict(url_of_key(one[0]), one[1].depth) is None)
        return outlinks

    def _host_states(self, hosts: set[str]) -> tuple[RuleMemory, dict[str, HostState]]:
        """Return the saved states of the hosts to ask, and the memory that their robots.txt rules share."""
        memory = self.config.round.task_memory
        rules = RuleMemory(memory // _RULES_SHARE)
        INDEXES.limit_to(memory // _INDEXES_SHARE)
        states = host_states(
            self.store, self.snapshot, self.order.partition, self.adopted, hosts, rules=rules
        )
        return rules, states

    def _site_budgets(self, scope: Scope) -> SiteBudgets:
        return SiteBudgets(
            self.config.budgets,
            self.rows,
            self.survey.large_hosts,
            self.survey.hosts,
            partition=self.order.partition,
            partitions=self.order.partitions,
            is_of_a_seed=scope.is_of_a_seed,
            extract=self.survey.extract,
        )

    def _page_reader(self, discovery: Discovery, sites: SiteBudgets) -> PageReader:
        """Return a reader that knows the pages and URLs which earlier attempts have saved."""
        lookalikes = Lookalikes(self.config.parse.near_duplicate)
        remember_runs(self.store, self.adopted, self.survey.known, lookalikes)
        return PageReader(
            discovery,
            sites,
            lookalikes,
            max_redirects=self.config.fetch.max_redirects,
            explicit=ExplicitLists(self.config.index.explicit_words, self.config.index.explicit_hosts),
        )

    def _archived(self, scope: Scope, due: list[Due]) -> Iterator[Visit]:
        """Yield the pages that an earlier attempt has archived but not parsed, if they are still in scope."""
        values = {one.key: one.value for one in due} if has_unparsed(self.adopted) else {}
        answers = unparsed_answers(self.store, self.adopted)
        while True:
            with self.heartbeat.own_work():
                found = next(answers, None)
            if found is None:
                return
            key, answer = found
            value = values.get(key) or self.rows.get(key) or self._followed_before(key)
            entry = decode_entry(value, self.rows.name) if value else None
            if entry is not None and scope.verdict(answer.url, entry.depth) is None:
                self.archived.add(key)
                yield Visit(key, answer.url, entry, answer)

    def _followed_before(self, key: bytes) -> bytes | None:
        """Return the packed entry of a URL that an earlier attempt has found and fetched in this round."""
        found = self.found_before.get(key)
        return encode(first_entry(found, found.seen)) if found else None

    def _within(self, scope: Scope, due: list[Due]) -> list[Due]:
        """Return the URLs that are in scope and whose host may be asked; record outcomes for the others.

        When the scope changes, a revision of the WebDB excludes known URLs (webdb/revision). This check is
        still needed for URLs that were found under other settings, and for settings of a single run.
        """
        inside = []
        for one in due:
            exclusion, stays = belonging(scope, url_of_key(one.key), -one.minus_depth, self._source(one))
            if exclusion is not None:
                self._judge(one, Kind.KEPT if stays else Kind.EXCLUDED, str(exclusion))
            elif one.key not in self.archived and (trouble := self.avoid.get(host_of_key(one.key))):
                self._judge(one, Kind.FAILED, trouble)
            else:
                inside.append(one)
        return inside

    def _source(self, due: Due) -> Callable[[], str]:
        return lambda: decode_entry(due.value, self.rows.name).source

    def _judge(self, due: Due, kind: Kind, reason: str) -> None:
        """Record the outcome of a URL that is not requested."""
        self.run.judge(due.key, Outcome(kind, int(self.clock.now()), reason=reason, depth=-due.minus_depth))


def _index_builder() -> Callable[[], Builder]:
    from crawlctl.pipeline.index.building.builder import RunBuilder

    return RunBuilder
