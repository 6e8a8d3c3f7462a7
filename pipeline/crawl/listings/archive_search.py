"""Searches archives for the answers of a URL, one record after the other.

It is needed only for archives that were written before there was a table of captures. They are read round by
round, the newest first: first the archives of the URL's partition, then of all other partitions, because a
copy into another number of partitions does not change archives. In memory is one chunk of a file, and no
body.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.archive_captures import captures_in
from crawlctl.pipeline.captures.capture_record import has_answer, joined
from crawlctl.pipeline.captures.capture_table import unlisted_archives
from crawlctl.pipeline.state.layout import round_of
from crawlctl.pipeline.state.manifest import open_whole
from crawlctl.pipeline.urls.hosts import host_of, partition_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.captures.capture_record import CaptureRecord
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


class ArchiveSearch:
    """Searches the archives of a snapshot that no table covers; `searched` counts the files read so far.

    Before each file `sign` is called with the number of files read so far and the number of all files.
    """

    def __init__(self, store: Store, snapshot: Snapshot, sign: Callable[[int, int], None]) -> None:
        self._store = store
        self._snapshot = snapshot
        self._sign = sign
        self._files = unlisted_archives(snapshot.files)
        self.searched = 0

    @property
    def files(self) -> int:
        """The number of archives to search."""
        return len(self._files)

    def newest(self, url: str, known: Iterable[CaptureRecord] = ()) -> list[CaptureRecord]:
        """Return the captures of a canonical URL, from the newest round back until the last one has its body.

        `known` are the captures from the tables.
        """
        partition = partition_of(host_of(url), self._snapshot.partitions)
        own = [entry for entry in self._files if entry.partition == partition]
        others = [entry for entry in self._files if entry.partition != partition]
        found = list(known)
        for of_round in (*_by_round(own), *_by_round(others)):
            found = joined([*found, *(one for entry in of_round for one in self._in_file(entry, url))])
            if has_answer(found):
                break
        return found

    def all(self, url: str) -> list[CaptureRecord]:
        """Return the captures of a canonical URL in all archives."""
        return [capture for entry in self._files for capture in self._in_file(entry, url)]

    def _in_file(self, entry: FileEntry, url: str) -> Iterator[CaptureRecord]:
        self._sign(self.searched, self.files)
        self.searched += 1
        for _, capture in captures_in(open_whole(self._store, entry), entry.name, only=url):
            yield capture


def _by_round(entries: Iterable[FileEntry]) -> list[list[FileEntry]]:
    """Return the archives of each round, the newest round first."""
    newest_first = sorted(entries, key=lambda entry: round_of(entry.name), reverse=True)
    return [list(some) for _, some in groupby(newest_first, key=lambda entry: round_of(entry.name))]
