"""The live pages of a partition by its WebDB part, and which of them have lost something by damage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.warc.sound_records import sound_records
from crawlctl.pipeline.imports.import_mark import marked_outcome
from crawlctl.pipeline.index.indexed_pages import IndexedPages
from crawlctl.pipeline.scope.belonging import is_imported
from crawlctl.pipeline.state.kinds import OUTCOMES, PAGES
from crawlctl.pipeline.state.layout import round_of
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.packed import statuses
from crawlctl.pipeline.webdb.part import open_part
from crawlctl.pipeline.webdb.records import LIVE, NEVER, Kind, Outcome, decode_entry, encode
from crawlctl.pipeline.webdb.row_files import write_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import WebEntry

NO_DOCUMENT = "its document was damaged and is fetched again"
NOT_FETCHED = "its document was damaged; import its archive again"
NO_RECORD = "its record in the archive was damaged and is fetched again"

_LAST_SECOND = "9999"  # is greater than any date of a record


def live_pages(store: Store, snapshot: Snapshot, partition: int) -> Iterator[tuple[bytes, WebEntry]]:
    """Yield the keys and entries of the live pages of a partition, in key order."""
    part = open_part(store, snapshot, partition)
    for block in part.blocks() if part else ():
        found = statuses(block.values, part.name if part else "", block.offset)
        for key, value, status in zip(block.keys, block.values, found, strict=True):
            if status in LIVE:
                yield key, decode_entry(value, part.name if part else "", block.offset)


def write_lost(
    store: Store, snapshot: Snapshot, partition: int, lost_rounds: Collection[int], now: int
) -> tuple[FileEntry, ...]:
    """Write an outcome for each live page that has lost its document or its record in the archive.

    By these outcomes the WebDB merge makes the pages due at once, without validators. An imported page
    outside the scope does not become due: only another import of its archive can bring it back.
    """
    indexed = IndexedPages(store, [entry for entry in snapshot.files if entry.partition == partition])
    archived = _Archived(store, snapshot.files_of(PAGES, partition), lost_rounds) if lost_rounds else None
    rows: dict[bytes, bytes] = {}
    for key, entry in live_pages(store, snapshot, partition):
        if not indexed.has(key, entry.last_changed):
            reason = NOT_FETCHED if is_imported(entry.source) and entry.next_due == NEVER else NO_DOCUMENT
            rows[key] = encode(marked_outcome(entry, Outcome(Kind.DOCUMENT_LOST, now, reason=reason)))
        elif archived is not None and archived.lacks(key, entry.last_changed):
            rows[key] = encode(Outcome(Kind.RECORD_LOST, now, code=entry.code, reason=NO_RECORD))
    if not rows:
        return ()
    return (write_rows(store, OUTCOMES, rows, partition=partition, round_number=snapshot.round),)


class _Archived:
    """The newest content of each page in the archives, and the time in which the lost records were made.

    Imported pages were never in the archive. They are mostly older than the crawl, so only pages from the
    time of the lost files count: after the last record of earlier rounds, before the first of later ones.
    """

    def __init__(self, store: Store, files: Collection[FileEntry], lost_rounds: Collection[int]) -> None:
        self._newest: dict[bytes, str] = {}
        self._after, self._before = "", _LAST_SECOND
        for entry in files:
            number = round_of(entry.name)
            for record in sound_records(store.open(entry.name)):
                if record.type != "response" or not record.url:
                    continue
                if number < min(lost_rounds):
                    self._after = max(self._after, record.date)
                elif number > max(lost_rounds):
                    self._before = min(self._before, record.date)
                key = webdb_key(record.url)
                self._newest[key] = max(self._newest.get(key, ""), record.date)

    def lacks(self, key: bytes, since: int) -> bool:
        """Return whether the content that a page has since a time was in a lost file."""
        from crawlctl.pipeline.formats.warc.warc_date import warc_date

        date = warc_date(since)
        return self._after <= date <= self._before and self._newest.get(key, "") < date
