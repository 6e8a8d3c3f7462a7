"""Finds the archived answer of a URL: the newest response in the WARC files of the crawl.

Archives have no index by URL. So the records are read one after the other, round by round from the newest on:
first the archives of the partition of the URL, then those of all others, because a copy into another number
of partitions leaves archives as they are. The search holds one read of a file, and no body.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.warc.warc_reader import WarcReader
from crawlctl.pipeline.state.kinds import PAGES
from crawlctl.pipeline.state.layout import round_of
from crawlctl.pipeline.state.manifest import open_whole
from crawlctl.pipeline.urls.hosts import host_of, partition_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.formats.warc.warc_reader import WarcRecord
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_RESPONSE, _REQUEST = "response", "request"


@dataclass(frozen=True)
class ArchivedAnswer:
    """Where an answer lies: the file, the offsets of answer and request, and when the request was made."""

    file: str
    offset: int
    request_offset: int | None
    date: str  # as WARC writes it: 2026-05-09T12:00:00Z


class ArchiveSearch:
    """Searches the archives of a snapshot; `searched` counts the files that were read.

    `sign` is called before each file with the number of files that were read and the number of all.
    """

    def __init__(self, store: Store, snapshot: Snapshot, sign: Callable[[int, int], None]) -> None:
        self._store = store
        self._snapshot = snapshot
        self._sign = sign
        self._files = snapshot.files_of(PAGES)
        self.searched = 0

    @property
    def files(self) -> int:
        """The number of archives of the crawl."""
        return len(self._files)

    def newest(self, url: str) -> ArchivedAnswer | None:
        """Return the newest answer that is archived for a canonical URL, None if there is none."""
        partition = partition_of(host_of(url), self._snapshot.partitions)
        own = [entry for entry in self._files if entry.partition == partition]
        others = [entry for entry in self._files if entry.partition != partition]
        return self._newest_in(own, url) or self._newest_in(others, url)

    def record(self, answer: ArchivedAnswer, offset: int) -> WarcRecord:
        """Return the record of an answer or a request at its offset; its block is not read yet."""
        source = self._store.open(answer.file)
        for record in WarcReader(source, offset):
            return record
        raise CorruptFile(source.name, offset, "the record is no longer there")

    def _newest_in(self, entries: Iterable[FileEntry], url: str) -> ArchivedAnswer | None:
        newest_first = sorted(entries, key=lambda entry: round_of(entry.name), reverse=True)
        for _, of_round in groupby(newest_first, key=lambda entry: round_of(entry.name)):
            found = [answer for entry in of_round for answer in self._in_file(entry, url)]
            if found:
                return max(found, key=lambda answer: answer.date)
        return None

    def _in_file(self, entry: FileEntry, url: str) -> Iterator[ArchivedAnswer]:
        self._sign(self.searched, self.files)
        self.searched += 1
        request = None
        for record in WarcReader(open_whole(self._store, entry)):
            if record.url != url:
                continue
            if record.type == _REQUEST:
                request = record.offset
            elif record.type == _RESPONSE:
                yield ArchivedAnswer(entry.name, record.offset, request, record.header("WARC-Date") or "")
