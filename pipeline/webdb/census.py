"""The counters of a WebDB part, which the manifest of its newest layer keeps.

They are counted while the part is written: from all rows, or only from the rows that differ from those of the
part before.

    fetched, gone, …                     number of entries by status
    hosts                                number of hosts
    due 1795000000-1795003600            number of entries that are due from the first to the second time
    seed hosts                           number of hosts that have a seed
    seed example.org                     number of seeds of that host

The driver plans a round with these counters, so that it does not have to read the WebDB. Every entry is in
one range of due times, and a range begins and ends with the due time of an entry. So it is always known
exactly whether any URL is due. The number of due URLs is exact too, unless the current time is inside a
range.

The first range ends at the time when the part is written. The later ranges end 15 minutes, 30 minutes, an
hour, two hours and so on after this time, up to two years. So a part has at most 19 ranges, which take less
than 700 bytes of a manifest. Parts of older releases have only the first two kinds of counters.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.urls.hosts import host_of_key, host_ranges
from crawlctl.pipeline.webdb.packed import leading_columns
from crawlctl.pipeline.webdb.records import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from crawlctl.pipeline.webdb.extract.part_extract import PartExtract
    from crawlctl.pipeline.webdb.layers.changes import Changed

HOSTS = "hosts"
SEED_HOSTS = "seed hosts"
# the most hosts listed per part: every command reads the snapshot, so it must not have long lists
MAX_SEED_HOSTS = 1000

_SEED = "seed "
_DUE = re.compile(r"due (\d+)-(\d+)")
_STATUSES = frozenset(status.name.lower() for status in Status)
_FIRST_RANGE = 15 * 60  # seconds
_DOUBLINGS = 16  # how often the length doubles: the last range but one ends after 682 days


class DueRange(NamedTuple):
    """The entries that fall due from `first` to `last`, both included, in UTC seconds."""

    first: int
    last: int
    entries: int

    def is_open(self, now: int) -> bool:
        """Return whether only a part of the entries is due now."""
        return self.first <= now < self.last

    def due(self, now: int) -> int:
        """Return how many entries are due now; while the range is open it is an estimate, at least 1."""
        if not self.is_open(now):
            return self.entries if self.last <= now else 0
        share = (now - self.first) / (self.last - self.first)
        return max(1, min(self.entries - 1, round(share * self.entries)))


def status_counts(counters: Mapping[str, int]) -> dict[str, int]:
    """Return the number of entries by the name of their status."""
    return {name: count for name, count in counters.items() if name in _STATUSES}


def due_ranges(counters: Mapping[str, int]) -> tuple[DueRange, ...]:
    """Return the ranges of due times; a part of an older release has none."""
    found = ((_DUE.fullmatch(name), count) for name, count in counters.items())
    return tuple(sorted(DueRange(int(name[1]), int(name[2]), count) for name, count in found if name))


def seed_hosts(counters: Mapping[str, int]) -> frozenset[str] | None:
    """Return the hosts that have a seed, None if the counters do not list them all."""
    listed = frozenset(seeds(counters))
    return listed if len(listed) == counters.get(SEED_HOSTS) else None


def seeds(counters: Mapping[str, int]) -> dict[str, int]:
    """Return the number of seeds of each host that the counters list."""
    return {name.removeprefix(_SEED): count for name, count in counters.items() if _is_seed(name)}


def _is_seed(name: str) -> bool:
    return name.startswith(_SEED) and name != SEED_HOSTS


class Census:
    """Counts the rows of a part, which come in key order, while the part is written.

    `now` decides only how due times are divided into ranges.
    """

    def __init__(self, name: str = "webdb", now: float | None = None) -> None:
        # importing it takes a tenth of a second, and commands that only read a part do not need it
        import numpy as np

        self._name = name
        self._statuses = np.zeros(256, np.int64)
        self._due = _DueTimes(int(time.time() if now is None else now))
        self._host = b""
        self._hosts = 0
        # from host to its number of seeds, for the first MAX_SEED_HOSTS hosts with seeds
        self._seeds: dict[str, int] = {}
        self._seed_hosts = 0
        self._is_seed_host = False

    def add(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Count the next rows."""
        import numpy as np

        columns = leading_columns(values, self._name)
        self._statuses += np.bincount(columns.statuses, minlength=256)
        self._due.add(columns.due)
        self._count_hosts(keys, columns.seeds.tolist())

    def _count_hosts(self, keys: Sequence[bytes], seeds: list[int]) -> None:
        """Count the hosts of rows, and the seeds of each host by the row numbers of the seeds."""
        before = 0
        for host, _, end in host_ranges(keys):
            if host != self._host:
                self._host, self._is_seed_host = host, False
                self._hosts += 1
            after = bisect_left(seeds, end, before)
            if after > before:
                self._count_seeds(host.decode("ascii", "replace"), after - before)
            before = after

    def _count_seeds(self, host: str, seeds: int) -> None:
        self._seed_hosts += not self._is_seed_host
        self._is_seed_host = True
        if self._seed_hosts <= MAX_SEED_HOSTS:
            self._seeds[host] = self._seeds.get(host, 0) + seeds

    def counters(self) -> dict[str, int]:
        """Return the counters of all rows by name; statuses that do not occur are left out."""
        statuses = _named(self._statuses, self._name)
        return {**statuses, HOSTS: self._hosts, **_due_counters(self._due.ranges()), **self._seed_counters()}

    def _seed_counters(self) -> dict[str, int]:
        if self._seed_hosts > MAX_SEED_HOSTS:
            return {SEED_HOSTS: self._seed_hosts}
        return {SEED_HOSTS: self._seed_hosts, **{_SEED + host: count for host, count in self._seeds.items()}}


class OldHosts(Protocol):
    """The interface through which NextCensus asks for the hosts of the part before."""

    def has_host(self, host: bytes) -> bool:
        """Return whether the part has a URL of a host."""

    def seeds_of(self, host: str) -> int:
        """Return the number of seeds of a host."""


class NextCensus:
    """Counts a part by its difference from the part before, whose counters are `before`.

    Changed rows come in key order. `now` decides only how due times are divided into ranges. If the extract
    of the part before is given, unchanged entries need not be counted.
    """

    def __init__(
        self,
        before: Mapping[str, int],
        old: OldHosts,
        name: str = "webdb",
        now: float | None = None,
        *,
        extract: PartExtract | None = None,
    ) -> None:
        import numpy as np

        self.new = 0  # how many URLs are not in the part before
        self._name = name
        self._old = old
        self._statuses = np.zeros(256, np.int64)
        for status in Status:
            self._statuses[status] = before.get(status.name.lower(), 0)
        self._due = _DueTimes(int(time.time() if now is None else now))
        self._extract = extract
        self._gone: list[NDArray[np.int64]] = []  # the old due times of changed rows, and the new ones
        self._new: list[NDArray[np.int64]] = []
        self._hosts = before.get(HOSTS, 0)
        self._host = b""
        self._all_listed = seed_hosts(before) is not None
        self._seed_hosts = before.get(SEED_HOSTS, 0)
        self._seeds = seeds(before)

    def add(self, changed: Changed) -> None:
        """Count the next rows."""
        import numpy as np

        new = leading_columns(changed.values, self._name)
        known = [row for row, value in enumerate(changed.before) if value is not None]
        old = leading_columns([value for value in changed.before if value is not None], self._name)
        self.new += len(changed.keys) - len(known)
        self._statuses += np.bincount(new.statuses, minlength=256)
        self._statuses -= np.bincount(old.statuses, minlength=256)
        if self._extract is None:
            self._due.add(new.due)
            self._due.add(leading_columns(changed.kept, self._name).due)
        else:
            self._gone.append(old.due)
            self._new.append(new.due)
        self._count_hosts(changed)
        gained = Counter(host_of_key(changed.keys[row]) for row in new.seeds.tolist())
        gained.subtract(host_of_key(changed.keys[known[row]]) for row in old.seeds.tolist())
        for host, count in gained.items():
            if count:
                self._count_seeds(host, count)

    def _count_hosts(self, changed: Changed) -> None:
        for host, start, end in host_ranges(changed.keys):
            if host != self._host:
                self._host = host
                is_known = any(value is not None for value in changed.before[start:end])
                self._hosts += not (is_known or self._old.has_host(host))

    def _count_seeds(self, host: str, seeds: int) -> None:
        before = self._seeds.get(host)
        if before is None:
            before = 0 if self._all_listed else self._old.seeds_of(host)
        self._seeds[host] = after = before + seeds
        self._seed_hosts += (after > 0) - (before > 0)

    def counters(self) -> dict[str, int]:
        """Return the counters of the next part by name; statuses that do not occur are left out."""
        found = {SEED_HOSTS: self._seed_hosts}
        if self._all_listed and self._seed_hosts <= MAX_SEED_HOSTS:
            found |= {_SEED + host: count for host, count in self._seeds.items() if count}
        statuses = _named(self._statuses, self._name)
        return {**statuses, HOSTS: self._hosts, **_due_counters(self._ranges()), **found}

    def _ranges(self) -> Iterable[DueRange]:
        if self._extract is None:
            return self._due.ranges()
        import numpy as np

        from crawlctl.pipeline.webdb.extract.due_totals import DueTotals

        gone, new = (np.concatenate([np.zeros(0, np.int64), *some]) for some in (self._gone, self._new))
        found = DueTotals.after(self._extract, gone, new).ranges(self._due.bounds)
        return (DueRange(*span) for span in found)


def _named(statuses: NDArray[np.int64], name: str) -> dict[str, int]:
    """Return the number of entries by the name of their status; errors call the part `name`."""
    try:
        return {
            Status(number).name.lower(): int(statuses[number]) for number in statuses.nonzero()[0].tolist()
        }
    except ValueError as err:
        raise CorruptFile(name, 0, f"not a WebDB part ({err})") from err


def _due_counters(ranges: Iterable[DueRange]) -> dict[str, int]:
    """Return the number of entries by the name of their range."""
    return {f"due {span.first}-{span.last}": span.entries for span in ranges}


class _DueTimes:
    """Ranges of due times: for each range the number of entries, and their first and their last due time."""

    def __init__(self, now: int) -> None:
        import numpy as np

        self._bounds = np.array([now, *(now + (_FIRST_RANGE << power) for power in range(_DOUBLINGS + 1))])
        ranges = len(self._bounds) + 1
        self._counts = np.zeros(ranges, np.int64)
        self._firsts = np.full(ranges, np.iinfo(np.int64).max)
        self._lasts = np.full(ranges, -1)

    def add(self, due: NDArray[np.int64]) -> None:
        """Take the due times of some entries, in any order."""
        due.sort()  # a block has few rows: sorting them takes less time than one search per row
        ends = [*due.searchsorted(self._bounds, "right").tolist(), len(due)]
        start = 0
        for number, end in enumerate(ends):
            if end > start:
                self._counts[number] += end - start
                self._firsts[number] = min(self._firsts[number], due[start])
                self._lasts[number] = max(self._lasts[number], due[end - 1])
            start = end

    @property
    def bounds(self) -> list[int]:
        """The end of each range, except for the last range, which has no end."""
        found: list[int] = self._bounds.tolist()
        return found

    def ranges(self) -> list[DueRange]:
        """Return the ranges that have entries."""
        rows = zip(self._firsts.tolist(), self._lasts.tolist(), self._counts.tolist(), strict=True)
        return [DueRange(first, last, count) for first, last, count in rows if count]
