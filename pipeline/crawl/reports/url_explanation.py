"""Explains why a URL was or was not fetched, from the WebDB, the host table and the settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.crawl.reports.neighbours import neighbours_of
from crawlctl.pipeline.fetch.failure_words import in_words
from crawlctl.pipeline.politeness.host_state import left_alone_until
from crawlctl.pipeline.scope.belonging import archive_of, belonging
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.terminal.utc import utc
from crawlctl.pipeline.urls.hosts import host_of, partition_of
from crawlctl.pipeline.webdb.host_table import find_host
from crawlctl.pipeline.webdb.part import lookup
from crawlctl.pipeline.webdb.records import Status
from crawlctl.pipeline.webdb.seed_hosts import seed_hosts

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.crawl.reports.neighbours import Neighbours
    from crawlctl.pipeline.politeness.host_state import HostState
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import WebEntry

NOT_READ = "not read yet"


@dataclass(frozen=True)
class RobotsVerdict:
    """What robots.txt says about a URL; `read_at` is in seconds since 1970."""

    allowed: bool
    rule: str
    line: int
    read_at: float


@dataclass(frozen=True)
class StandIn:
    """The page that stands for a URL: the URL names it as canonical, or it has the same content."""

    url: str
    entry: WebEntry | None
    is_here: bool  # whether it is in the same partition, where the WebDB merge knows its state

    @property
    def status(self) -> str:
        """The status of its entry, in a word."""
        return self.entry.status.name.lower() if self.entry else "unknown"


@dataclass(frozen=True)
class UrlExplanation:
    """All facts that are known about a URL; `why` sums them up in a sentence."""

    url: str
    partition: int
    why: str
    entry: WebEntry | None
    exclusion: str | None  # the setting that excludes it now
    robots: RobotsVerdict | None
    host: HostState | None
    neighbours: Neighbours | None = None
    stand_in: StandIn | None = None


def explain_url(
    store: Store, snapshot: Snapshot, config: Config, url: str, now: float, *, look_around: bool = False
) -> UrlExplanation:
    """Explain a canonical URL; `look_around` also reads the entries of related URLs."""
    host = host_of(url)
    entry = lookup(store, snapshot, url)
    hosts = () if config.scope.include else seed_hosts(store, snapshot)
    known_depth, source = (entry.depth, entry.source) if entry else (0, "")
    exclusion, stays = belonging(Scope(config.scope, hosts), url, known_depth, lambda: source)
    state = _host_state(store, snapshot, host, config.politeness.robots_retry)
    robots = _robots(state, url)
    kept_out = str(exclusion) if exclusion else None
    neighbours = neighbours_of(store, snapshot, url, entry) if look_around else None
    stand_in = _stand_in(store, snapshot, url, entry) if entry else None
    if entry is None:
        why = _why_unknown(kept_out, neighbours)
    elif kept_out and stays:
        why = f"imported from {archive_of(source)}; outside the scope, so it is not visited again"
    else:
        why = _why(entry, kept_out, robots, state, now, stand_in=stand_in)
    return UrlExplanation(
        url,
        partition_of(host, snapshot.partitions),
        why,
        entry,
        kept_out,
        robots,
        state,
        neighbours,
        stand_in,
    )


def _host_state(store: Store, snapshot: Snapshot, host: str, robots_retry: float) -> HostState | None:
    """Return the state of a host, with the time until which it is left alone, as `status` says it."""
    state = find_host(store, snapshot, host)
    return state and replace(state, not_before=left_alone_until(state, robots_retry))


def _stand_in(store: Store, snapshot: Snapshot, url: str, entry: WebEntry) -> StandIn | None:
    """Return the page at the end of a chain of duplicates, or the canonical page that a live page names."""
    following = entry.canonical if entry.status is Status.DUPLICATE else entry.named if entry.live else ""
    found, seen = None, {url}
    while following and following not in seen:
        seen.add(following)
        other = lookup(store, snapshot, following)
        found = StandIn(following, other, _same_partition(snapshot, url, following))
        is_duplicate = other is not None and other.status is Status.DUPLICATE and not entry.live
        following = other.canonical if other is not None and is_duplicate else ""
    return found


def _same_partition(snapshot: Snapshot, *urls: str) -> bool:
    return len({partition_of(host_of(url), snapshot.partitions) for url in urls}) == 1


def _why_unknown(exclusion: str | None, neighbours: Neighbours | None) -> str:
    if exclusion:
        return f"unknown, and it would be kept out by {exclusion}"
    if neighbours is None or not neighbours.linked_from:
        return "unknown: no seed names it, and no page fetched so far led to it"
    if all(page.nofollow for page in neighbours.linked_from):
        return "unknown: no seed names it, and the pages that link to it do so with nofollow"
    limits = "scope.max_new_urls_per_page, scope.max_depth or budgets"
    return f"unknown: pages link to it, but a limit ({limits}) has kept it from being taken up so far"


def _robots(state: HostState | None, url: str) -> RobotsVerdict | None:
    known = state.robots.get(url.partition(":")[0]) if state else None
    if known is None:
        return None
    verdict = known.robots.verdict(url)
    return RobotsVerdict(verdict.allowed, verdict.rule, verdict.line, known.read_at)


def _why(
    entry: WebEntry,
    exclusion: str | None,
    robots: RobotsVerdict | None,
    host: HostState | None,
    now: float,
    *,
    stand_in: StandIn | None,
) -> str:
    if not entry.last_tried or (entry.status is Status.UNFETCHED and not entry.tries):
        return _not_tried(entry, exclusion, robots, host, now)
    sentence = _status(entry) + (_of_stand_in(entry, stand_in) if stand_in else "")
    if entry.tries and entry.status is not Status.FAILED:
        sentence += f"; the last {_times(entry.tries)} failed ({_cause(entry)})"
    return sentence


def _not_tried(
    entry: WebEntry, exclusion: str | None, robots: RobotsVerdict | None, host: HostState | None, now: float
) -> str:
    if exclusion:
        return f"not fetched: kept out by {exclusion}"
    if robots is not None and not robots.allowed:
        return f"not fetched: robots.txt says {robots.rule}"
    failed = f"its host failed ({in_words(host.reason)})" if host is not None and host.reason else ""
    if host is not None and host.not_before > now:
        asked = f"may not be asked before {utc(host.not_before)}"
        return f"not fetched: {failed} and {asked}" if failed else f"not fetched: its host {asked}"
    if not entry.is_due(now):
        due = f"it is due at {utc(entry.next_due)}"
        return f"not fetched: {failed}; {due}" if failed else f"not fetched: {due}"
    if failed:
        return f"not fetched: {failed}; it is due, and the next `crawlctl run` asks for it again"
    return "not fetched: it is due and waits for a round that has room for it"


def _of_stand_in(entry: WebEntry, stand_in: StandIn) -> str:
    """Return the part of the sentence about the page that stands for a URL."""
    known = _status(stand_in.entry) if stand_in.entry and stand_in.entry.last_tried else "not fetched so far"
    if entry.status is Status.DUPLICATE:
        via = "" if stand_in.url == entry.canonical else f", through which {stand_in.url}"
        return f"{via or ', which'} stands for it ({known})"
    names = f"; it names {stand_in.url} in its place"
    if stand_in.entry is not None and stand_in.entry.live and not stand_in.is_here:
        return f"{names}, which is of another partition: both are in the index"
    if stand_in.entry is not None and stand_in.entry.live and not stand_in.entry.has_words:
        known = f"it has no text; {known}"
    return f"{names}, which cannot stand for it ({known})"


def _status(entry: WebEntry) -> str:
    fetched = f"fetched at {utc(entry.last_fetched)}"
    return {
        Status.UNFETCHED: "not fetched so far",
        Status.FETCHED: f"{fetched}, new or changed",
        Status.UNCHANGED: f"{fetched}, as it was before",
        Status.REDIRECTED: f"it leads to {entry.redirect_to}",
        Status.GONE: f"gone ({_cause(entry)})",
        Status.FORBIDDEN: f"forbidden ({_cause(entry)})",
        Status.EXCLUDED: f"kept out of the index ({_cause(entry)})",
        Status.FAILED: f"given up after {_times(entry.tries)} ({_cause(entry)})",
        Status.DUPLICATE: _of_duplicate(entry),
    }[entry.status]


def _of_duplicate(entry: WebEntry) -> str:
    if not entry.canonical:
        return "not in the index: the page that stood for it no longer does, so it is to be fetched again"
    if entry.canonical == entry.names:
        return f"it names {entry.canonical} in its place"
    return f"it has the content of {entry.canonical}"


def _cause(entry: WebEntry) -> str:
    said = [f"status {entry.code}"] if entry.code and str(entry.code) not in entry.reason else []
    return ": ".join([*said, *([in_words(entry.reason)] if entry.reason else [])]) or "no reason was given"


def _times(tries: int) -> str:
    return "try" if tries == 1 else counted(tries, "try", "tries")
