"""Lists the pages of a crawl or of a host, by status, in the order of the WebDB."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from crawlctl.pipeline.crawl.listings.page_errors import FAILING, is_failing
from crawlctl.pipeline.crawl.listings.webdb_scan import WebDbScan
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.urls.hosts import url_of_key
from crawlctl.pipeline.webdb.census import due_ranges, status_counts
from crawlctl.pipeline.webdb.due import estimate_due
from crawlctl.pipeline.webdb.packed import STATUS, due_mark, due_rows, visit_fields
from crawlctl.pipeline.webdb.records import LIVE, Status, decode_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.crawl.listings.webdb_scan import Rows
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

# The words that `--status` takes besides FAILING, the names of statuses, and HTTP codes.
DUE, IS_LIVE = "due", "live"
STATUS_NAMES = tuple(status.name.lower() for status in Status)
STATUS_WORDS = (DUE, IS_LIVE, FAILING, *STATUS_NAMES)

_Choose: TypeAlias = "Callable[[Rows], Rows]"


class ListedPage(msgspec.Struct, frozen=True):
    """A page of the list; times are UTC seconds, 0 means never."""

    url: str
    status: str
    code: int
    last_visit: int
    next_visit: int
    due: bool
    depth: int
    failed_tries: int  # how many tries failed in a row, up to the last
    reason: str


class Totals(msgspec.Struct, frozen=True):
    """How many pages there are: pages that match (None if not known), and all pages by status."""

    shown: int
    total: int | None
    about: bool  # whether the total is an estimate
    statuses: dict[str, int]

    @property
    def pages(self) -> int:
        """The number of all pages of the crawl or of the host, of any status."""
        return sum(self.statuses.values())


class PageList:
    """A list of pages, read once: first `pages`, then `totals`."""

    def __init__(
        self,
        store: Store,
        snapshot: Snapshot,
        *,
        host: str | None,
        wanted: str | None,
        now: int,
        sign: Callable[[int, int], None],
    ) -> None:
        self._snapshot = snapshot
        self._store = store
        self._host = host
        self._wanted = wanted
        self._now = now
        self._scan = WebDbScan(store, snapshot, host, sign=sign)
        self._choose = _chooser(wanted, now)
        self._statuses: Counter[str] = Counter()
        self._found = 0
        self._is_whole = False

    def pages(self, limit: int | None) -> Iterator[ListedPage]:
        """Yield at most `limit` pages; all pages of a host are read, because they are counted too."""
        for rows in self._scan.rows(self._may_have):
            if self._host is not None:
                self._statuses.update(STATUS_NAMES[value[STATUS]] for _, value in rows)
            for key, value in self._choose(rows):
                self._found += 1
                if limit is None or self._found <= limit:
                    yield self._page(key, value)
                elif self._host is None:
                    return
        self._is_whole = True

    def totals(self, limit: int | None) -> Totals:
        """Return how many pages there are; if not all pages were read, by the counters of the WebDB parts."""
        shown = self._found if limit is None else min(self._found, limit)
        statuses = dict(self._statuses) if self._host is not None else _counted(self._snapshot)
        if self._is_whole:
            return Totals(shown, self._found, False, statuses)
        return Totals(shown, self._expected(statuses), self._wanted == DUE, statuses)

    def _expected(self, statuses: dict[str, int]) -> int | None:
        if self._wanted is None:
            return sum(statuses.values())
        if self._wanted == DUE:
            return sum(estimate_due(self._store, self._snapshot, self._now).values())
        if self._wanted == FAILING or self._wanted.isdecimal():
            return None
        return sum(statuses.get(name, 0) for name in _names(self._wanted))

    def _may_have(self, entry: FileEntry) -> bool:
        """Return whether a part may have wanted pages, by its counters; parts of older releases lack some."""
        if self._wanted == DUE:
            ranges = due_ranges(entry.counters)
            return not ranges or any(span.due(self._now) for span in ranges)
        names = _names(self._wanted)
        return not names or any(entry.counters.get(name) for name in names)

    def _page(self, key: bytes, value: bytes) -> ListedPage:
        entry = decode_entry(value, self._scan.name)
        return ListedPage(
            url_of_key(key),
            entry.status.name.lower(),
            entry.code,
            entry.last_tried,
            entry.next_due,
            entry.is_due(self._now),
            entry.depth,
            entry.tries,
            entry.reason,
        )


def is_status(word: str) -> bool:
    """Return whether `--status` takes a word: one of STATUS_WORDS or the code of an HTTP status."""
    return word in STATUS_WORDS or (word.isascii() and word.isdecimal() and 100 <= int(word[:4]) <= 999)


def _names(wanted: str | None) -> tuple[str, ...]:
    """Return the names of the statuses that a word stands for; none if the status alone does not decide."""
    if wanted == IS_LIVE:
        return tuple(status.name.lower() for status in LIVE)
    return (wanted,) if wanted in STATUS_NAMES else ()


def _counted(snapshot: Snapshot) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for entry in snapshot.files_of(WEBDB):
        counted.update(status_counts(entry.counters))
    return dict(counted)


def _chooser(wanted: str | None, now: int) -> _Choose:
    """Return the function that selects the wanted rows among many rows."""
    if wanted is None:
        return lambda rows: rows
    if wanted == DUE:
        mark = due_mark(now)
        return lambda rows: due_rows([key for key, _ in rows], [value for _, value in rows], mark)
    if wanted == FAILING:
        return lambda rows: [row for row in rows if is_failing(visit_fields(row[1]))]
    if wanted.isdecimal():
        code = int(wanted)
        return lambda rows: [row for row in rows if visit_fields(row[1]).code == code]
    statuses = {Status[name.upper()] for name in _names(wanted)}
    return lambda rows: [row for row in rows if row[1][STATUS] in statuses]
