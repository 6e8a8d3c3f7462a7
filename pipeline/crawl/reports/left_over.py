"""LeftHosts: which due URLs a run did not fetch, and why: a crawl that cannot go on must not look finished.

Fetch tasks store in the state of a host how many of its URLs they left, and why (host_state.py). The files of
a round have the states of all its hosts, so nothing else is read.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from crawlctl.pipeline.crawl.reports.causes import DISALLOWED, WAITING, cause_of, remedy_of
from crawlctl.pipeline.crawl.reports.page_counts import failures
from crawlctl.pipeline.errors import NothingFetched
from crawlctl.pipeline.fetch.failure_words import in_words
from crawlctl.pipeline.fetch.save.run_buffer import ANSWERED
from crawlctl.pipeline.politeness.failure_kinds import OTHER, kind_of
from crawlctl.pipeline.politeness.host_queue import ROUND_ENDED
from crawlctl.pipeline.politeness.host_state import left_alone_until
from crawlctl.pipeline.terminal.counted import by_number, counted
from crawlctl.pipeline.terminal.printable import escaped
from crawlctl.pipeline.terminal.utc import utc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crawlctl.pipeline.politeness.host_state import HostSummary

SHOWN = 10  # hosts
_KEPT = 100_000  # how many hosts are remembered; for further hosts only the URLs are counted


class HostTrouble(msgspec.Struct, frozen=True):
    """A host whose URLs were due and not fetched, or whose last request failed; the names are of `--json`."""

    host: str
    urls: int  # how many URLs were due and not fetched
    kind: str  # the kind of the failure, such as dns (failure_kinds.py)
    reason: str  # why its URLs were not requested
    failure: str  # what happened at the last request, empty if it was answered
    not_before: float  # UTC seconds; when it may be asked again, 0 if at once


def trouble_of(host: str, row: HostSummary, robots_retry: float) -> HostTrouble:
    """Return the trouble of a host by its state."""
    kind = row.trouble or (WAITING if row.left_reason == ROUND_ENDED else OTHER)
    reason = escaped(row.left_reason or row.reason)
    until = left_alone_until(row, robots_retry)
    return HostTrouble(host, row.left, kind, reason, escaped(row.reason), until)


class LeftHosts:
    """The hosts with URLs that were not fetched, each with its state in the last round that had it."""

    def __init__(self, robots_retry: float = 0.0) -> None:
        self.urls = 0  # how many URLs of all hosts the last round has left
        self._robots_retry = robots_retry  # seconds after which a robots.txt that failed is asked for again
        self._hosts: dict[str, HostTrouble] = {}
        self._waiting: dict[str, HostTrouble] = {}  # of the last round: all its hosts with URLs left
        self._failing: dict[str, HostTrouble] = {}  # kind of failure → a host that failed so

    def begin_round(self) -> None:
        """Begin a round: forget the URLs that the round before has left."""
        self._waiting = {}

    def see(self, host: str, row: HostSummary, *, is_offline: bool = False) -> None:
        """Take the state in which a round has left a host; if it `is_offline`, no host is left alone."""
        if is_offline:
            row = replace(row, not_before=0.0)
        trouble = trouble_of(host, row, self._robots_retry)
        if row.left:
            self._waiting[host] = trouble
        if row.reason:
            self._failing.setdefault(row.trouble, trouble)
        if row.left and row.left_reason != ROUND_ENDED and (host in self._hosts or len(self._hosts) < _KEPT):
            self._hosts[host] = trouble
        else:
            self._hosts.pop(host, None)

    def by_size(self) -> list[HostTrouble]:
        """Return the hosts that could not be asked, hosts with the most URLs first."""
        return sorted(self._hosts.values(), key=lambda one: (-one.urls, one.host))

    def next_ready(self, now: float) -> HostTrouble | None:
        """Return the host of the last round that may be asked next; None if no host has to wait."""
        resting = (one for one in self._waiting.values() if one.not_before > now)
        return min(resting, key=lambda one: (one.not_before, one.host), default=None)

    def kinds(self) -> Counter[str]:
        """Return how many URLs were left, by the kind of the failure of their host."""
        kinds: Counter[str] = Counter()
        for one in self._hosts.values():
            kinds[one.kind] += one.urls
        if self._unnamed > 0:
            kinds[WAITING] += self._unnamed
        return kinds

    def example(self, kind: str) -> HostTrouble | None:
        """Return a host with this kind of failure; None if there is none."""
        named = (one for one in self.by_size() if one.kind == kind)
        return next(named, self._failing.get(kind))

    def lines(self, now: float) -> Iterator[str]:
        """Yield the lines to print at the end of a run."""
        hosts = self.by_size()
        for one in hosts[:SHOWN]:
            yield _line(one, now)
        others = sum(one.urls for one in hosts[SHOWN:])
        if others:
            urls, more = counted(others, "URL"), counted(len(hosts) - SHOWN, "more host")
            yield f"and {urls} of {more} not asked for; `crawlctl errors` lists them"
        if self._unnamed > 0:
            turn = counted(self._unnamed, "URL is due whose", "URLs are due whose")
            them = by_number(self._unnamed, "it", "them")
            yield f"{turn} turn did not come: `crawlctl run` continues with {them}"

    @property
    def _unnamed(self) -> int:
        return self.urls - sum(one.urls for one in self._hosts.values())


def _line(one: HostTrouble, now: float) -> str:
    urls = counted(one.urls, "URL was", "URLs were")
    return f"{one.host}: {urls} not asked for: {in_words(one.reason)}{_wait(one, now)}"


def _wait(one: HostTrouble, now: float) -> str:
    return f"; the host is left alone until {utc(one.not_before)}" if one.not_before > now else ""


def nothing_fetched(counters: Mapping[str, int], left: LeftHosts, now: float) -> NothingFetched | None:
    """Return the error of a run that has fetched no page although pages were due; None if it has fetched any.

    `counters` are the summed counters of all rounds of the command.
    """
    kinds = Counter(failures(counters)) + left.kinds()
    if counters.get(DISALLOWED):
        kinds[DISALLOWED] += counters[DISALLOWED]
    if counters.get(ANSWERED) or not kinds:
        return None
    kind, number = kinds.most_common(1)[0]
    example, total = left.example(kind), kinds.total()
    share = "" if number == total else f" (so for {number:,} of {counted(total, 'URL')})"
    why = (example.failure or example.reason) if example else ""
    named = f" ({example.host}: {_sentence(why)}){_wait(example, now)}" if example else ""
    return NothingFetched(
        f"nothing was fetched: {cause_of(kind).words}{share}{named}; {remedy_of(kind, why)}"
    )


def _sentence(reason: str) -> str:
    """Return the reason of a failure without its kind, and without the advice of the address guard."""
    return reason.removeprefix(f"{kind_of(reason)}: ").partition("; ")[0]
