"""The share of a crawl that lands in one partition of its copy: some hosts, with all their data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import TYPE_CHECKING

from crawlctl.pipeline.state.layout import round_of
from crawlctl.pipeline.urls.hosts import partition_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot


@dataclass(frozen=True)
class Share:
    """Partition `number` of the `partitions` of a copy, and the snapshot of the source."""

    snapshot: Snapshot
    number: int
    partitions: int

    def takes(self, host: bytes | str) -> bool:
        """Return whether a host lands in this partition."""
        name = host if isinstance(host, str) else host.decode("ascii", "replace")
        return partition_of(name, self.partitions) == self.number

    @cached_property
    def origins(self) -> range:
        """The partitions of the source that its hosts can come from.

        A hash that is q mod N and p mod P is both modulo gcd(N, P). So if the number of partitions doubles,
        each new partition reads one old one.
        """
        step = gcd(self.snapshot.partitions, self.partitions)
        return range(self.number % step, self.snapshot.partitions, step)

    def files_of(self, *kinds: str) -> tuple[FileEntry, ...]:
        """Return the files of some kinds in the partitions that its hosts can come from."""
        return tuple(f for f in self.snapshot.files if f.kind in kinds and f.partition in self.origins)


def last_round(entries: Iterable[FileEntry]) -> int:
    """Return the latest round in the names of files; new files get it, since merges go by rounds."""
    return max((round_of(entry.name) for entry in entries), default=0)
