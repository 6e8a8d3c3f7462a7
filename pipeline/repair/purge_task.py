"""Removes forgotten pages from the files of a partition: WebDB rows, host states and archived records.

Only files that contain something about these pages are written again. The index is not changed here. A full
merge removes the text later, because it drops documents without a WebDB row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.formats.warc.sound_records import sound_records
from crawlctl.pipeline.scope.scope_rules import RuleSet
from crawlctl.pipeline.state.kinds import BLOCKS, HOSTS, PAGES, WEBDB
from crawlctl.pipeline.state.layout import data_name, round_of
from crawlctl.pipeline.state.manifest import FileEntry, file_entry
from crawlctl.pipeline.urls.hosts import host_in_key, host_of, url_in_key
from crawlctl.pipeline.webdb.layers.layer import newest_number
from crawlctl.pipeline.webdb.life import shut_out
from crawlctl.pipeline.webdb.part import open_part, write_part
from crawlctl.pipeline.webdb.records import Status, WebEntry, decode_entry, encode
from crawlctl.pipeline.webdb.row_files import open_table, write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import Rows

SETTING = "scope.forgotten"
_SUFFIX = ".warc.gz"


class PurgedPartition(msgspec.Struct, frozen=True):
    """The files of a partition that were replaced, the files that replace them, and what was removed."""

    partition: int
    dropped: tuple[str, ...] = ()
    written: tuple[FileEntry, ...] = ()
    rows: int = 0  # rows that were removed from the WebDB
    records: int = 0  # records that were removed from the archive


def purge_partition(
    store: Store, snapshot: Snapshot, partition: int, rules: Iterable[str]
) -> PurgedPartition:
    """Write the files of a partition again without the pages that the rules match."""
    return _Purge(store, snapshot, partition, RuleSet(SETTING, rules)).run()


class _Purge:
    """One partition while forgotten pages are removed from it."""

    def __init__(self, store: Store, snapshot: Snapshot, partition: int, rules: RuleSet) -> None:
        self._store = store
        self._snapshot = snapshot
        self._partition = partition
        self._rules = rules
        self._dropped: list[str] = []
        self._written: list[FileEntry] = []
        self._rows = self._records = 0

    def run(self) -> PurgedPartition:
        """Remove the pages from all files."""
        self._purge_part()
        self._purge_hosts()
        for entry in self._snapshot.files_of(PAGES, self._partition):
            self._purge_archive(entry)
        return PurgedPartition(
            self._partition, tuple(self._dropped), tuple(self._written), self._rows, self._records
        )

    def _is_forgotten(self, url: str) -> bool:
        return bool(self._rules.matching(url, host_of(url)))

    def _purge_part(self) -> None:
        self._rows = sum(sum(map(self._forgets, keys)) for keys, _ in self._blocks())
        if not self._rows:
            return
        layers = self._snapshot.files_of(WEBDB, self._partition)
        self._dropped += (entry.name for entry in layers)
        self._written += write_part(
            self._store,
            self._kept_rows(),
            partition=self._partition,
            round_number=self._snapshot.round,
            number=newest_number(layers) + 1,
        )

    def _blocks(self) -> Iterator[Rows]:
        part = open_part(self._store, self._snapshot, self._partition)
        for block in part.blocks() if part else ():
            yield block.keys, block.values

    def _kept_rows(self) -> Iterator[Rows]:
        """Yield the rows that stay.

        A forgotten seed keeps an empty row. Without include rules the seeds decide which hosts belong to the
        crawl, so without the row all pages of the host would leave it. The row does not reveal the URL: it is
        in scope.forgotten anyway.
        """
        for keys, values in self._blocks():
            rows = zip(keys, values, strict=True)
            kept = [(key, self._bare_seed(value) if self._forgets(key) else value) for key, value in rows]
            found = [(key, value) for key, value in kept if value]
            if found:
                yield [key for key, _ in found], [value for _, value in found]

    def _forgets(self, key: bytes) -> bool:
        return self._is_forgotten(url_in_key(key).decode("ascii"))

    def _bare_seed(self, value: bytes) -> bytes:
        """Return the empty row of a forgotten seed; b"" if the page is no seed."""
        entry = decode_entry(value)
        if entry.depth > 0:
            return b""
        return encode(shut_out(WebEntry(Status.UNFETCHED, 0, 0.0, 0, 0), entry.reason, entry.last_tried))

    def _purge_hosts(self) -> None:
        """Drop the states and the samples of blocks of hosts of which no row is left."""
        if not self._rows:
            return
        left = {host_in_key(key) for keys, _ in self._kept_rows() for key in keys}
        files_of = self._snapshot.files_of
        for entry in (*files_of(HOSTS, self._partition), *files_of(BLOCKS, self._partition)):
            rows = [(host, state) for host, state in open_table(self._store, entry) if host in left]
            if len(rows) == entry.records:
                continue
            self._dropped.append(entry.name)
            if rows:
                row_blocks = [([host for host, _ in rows], [state for _, state in rows])]
                numbers = {"partition": self._partition, "round_number": self._snapshot.round}
                self._written.append(write_table(self._store, entry.kind, row_blocks, **numbers))

    def _purge_archive(self, entry: FileEntry) -> None:
        source = self._store.open(entry.name)
        records = list(sound_records(source))
        kept = [record for record in records if not (record.url and self._is_forgotten(record.url))]
        if len(kept) == len(records):
            return
        self._records += len(records) - len(kept)
        self._dropped.append(entry.name)
        if all(record.type == "warcinfo" for record in kept):
            return
        with self._store.write(data_name(PAGES, entry.partition, round_of(entry.name), _SUFFIX)) as sink:
            for record in kept:
                sink.write(source.read(record.start, record.end - record.start))
        self._written.append(file_entry(sink, PAGES, entry.partition, len(kept)))
