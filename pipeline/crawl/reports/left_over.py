"""Tells the user which due URLs a run did not fetch, and why: a stuck crawl must not look finished.

Fetch tasks store in the state of a host how many of its URLs they left (host_state.py). The files of a round
have the states of all its hosts, so nothing else is read.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.fetch.save.run_buffer import FAILED_WITH
from crawlctl.pipeline.politeness.host_queue import ROUND_ENDED
from crawlctl.pipeline.state.kinds import HOSTS, OUTCOMES
from crawlctl.pipeline.terminal.printable import escaped
from crawlctl.pipeline.terminal.utc import utc
from crawlctl.pipeline.webdb.row_files import open_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

SHOWN = 10  # hosts
_KEPT = 100_000  # hosts; of further hosts only the URLs are counted


class _Row(msgspec.Struct, frozen=True, array_like=True):
    """The fields of a HostState that are used here; robots.txt rules are not decoded."""

    robots: msgspec.Raw
    not_before: float = 0.0
    failures: int = 0
    pages: int = 0
    last_seconds: float = 0.0
    reason: str = ""
    ip: str = ""
    schemes: msgspec.Raw = msgspec.Raw(b"\x80")
    told_at: float = 0.0
    left: int = 0
    left_reason: str = ""


_decode = msgspec.msgpack.Decoder(_Row).decode


class FailedPages:
    """Counts the pages that failed in all rounds of a run, by cause."""

    def __init__(self) -> None:
        self._causes: Counter[str] = Counter()

    def take(self, fetched: Iterable[FileEntry]) -> None:
        """Add the counters of a round."""
        for entry in fetched:
            for name, number in entry.counters.items() if entry.kind == OUTCOMES else ():
                if name.startswith(FAILED_WITH):
                    self._causes[name.removeprefix(FAILED_WITH)] += number

    def lines(self) -> Iterator[str]:
        """Yield the lines to print at the end of a run."""
        total = self._causes.total()
        if total:
            causes = ", ".join(f"{number:,} with {cause}" for cause, number in self._causes.most_common())
            pages = "1 page" if total == 1 else f"{total:,} pages"
            yield (
                f"{pages} failed: {causes}; `crawlctl explain URL` says why and when it is tried again, "
                "`crawlctl dump webdb` lists all"
            )


class LeftHosts:
    """The hosts with URLs that were not fetched, each by the last round that met it."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Row] = {}
        self._left = 0  # URLs of all hosts that the last round left

    def take(self, store: Store, fetched: Iterable[FileEntry], left: int) -> None:
        """Add a round: the number of URLs it left, and the states of hosts in its files."""
        self._left = left
        for entry in fetched:
            if entry.kind == HOSTS:
                for key, value in open_table(store, entry):
                    self._see(key.decode("ascii"), _row(value, entry.name))

    def lines(self, now: float) -> Iterator[str]:
        """Yield the lines to print at the end of a run."""
        by_size = sorted(self._hosts.items(), key=lambda item: (-item[1].left, item[0]))
        for host, row in by_size[:SHOWN]:
            yield _line(host, row, now)
        others = sum(row.left for _, row in by_size[SHOWN:])
        if others:
            yield (
                f"and {others:,} URLs of {len(by_size) - SHOWN:,} more hosts were not asked for; "
                "`crawlctl explain URL` says why"
            )
        unnamed = self._left - sum(row.left for _, row in by_size)
        if unnamed > 0:
            yield f"{unnamed:,} URLs are due whose turn did not come: `crawlctl run` continues with them"

    def _see(self, host: str, row: _Row) -> None:
        if row.left and row.left_reason != ROUND_ENDED and (host in self._hosts or len(self._hosts) < _KEPT):
            self._hosts[host] = row
        else:
            self._hosts.pop(host, None)


def _row(value: bytes, name: str) -> _Row:
    try:
        return _decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, 0, f"not the state of a host ({err})") from err


def _line(host: str, row: _Row, now: float) -> str:
    wait = f"; the host is left alone until {utc(row.not_before)}" if row.not_before > now else ""
    return (
        f"{host}: {_urls(row.left)} not asked for: {escaped(row.left_reason)}{wait}; "
        "a later `crawlctl run` fetches the URLs that are due then; `crawlctl explain URL` says when that is"
    )


def _urls(count: int) -> str:
    return "1 URL was" if count == 1 else f"{count:,} URLs were"
