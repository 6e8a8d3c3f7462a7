"""Captures for tests: archives of ours with answers of all kinds, and all captures that a store has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.captures.capture_table import LISTED, tables_of
from crawlctl.pipeline.captures.capture_tiers import merge_captures, merged_rows
from crawlctl.pipeline.config.settings import FetchSettings
from crawlctl.pipeline.fetch.pages.page_reader import Visit
from crawlctl.pipeline.fetch.save.archive import Archive
from crawlctl.pipeline.http.exchange import Answer, Request, parse_headers
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.urls.hosts import host_of, partition_of, webdb_key
from crawlctl.pipeline.webdb.records import Kind, Status, WebEntry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.captures.capture_record import CaptureRecord
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

PARTITIONS = 2
FIRST = 1_700_000_000  # 2023-11-14 22:13:20
DAY = 86_400
A, B = "https://www.a.example/", "http://b.example:8080/x?b=2&a=1"
REASONS = {200: b"OK", 301: b"Moved Permanently", 304: b"Not Modified", 404: b"Not Found"}

# url, status, body, seconds after FIRST: two rounds, in which A is unchanged at the second visit
ROUNDS = (
    ((A, 200, b"<p>apes", 0), (A + "gone", 404, b"no", 1), (B, 200, b"bears", 2)),
    ((A, 304, b"", DAY), (A + "Old/", 301, b"", DAY + 1), (B, 200, b"more bears", DAY + 2)),
)


def visit(url: str, status: int, body: bytes, after: float) -> Visit:
    head = b"HTTP/1.1 %d %s\r\nContent-Type: Text/HTML; charset=utf-8\r\n\r\n" % (status, REASONS[status])
    answer = Answer(
        request=Request(url),
        url=url,
        started=FIRST + after + 0.5,
        status=status,
        version="1.1",
        head=head,
        headers=parse_headers(head),
        body=body,
    )
    entry = WebEntry(Status.FETCHED, next_due=0, score=1.0, depth=0, first_seen=0, last_fetched=FIRST)
    return Visit(webdb_key(url), url, entry, answer)


def archived(store: Store, visits: Iterable[Visit], partition: int, round_number: int) -> list[FileEntry]:
    """Write an archive and its captures, as a fetch task does."""
    archive = Archive(store, FetchSettings(contact="x@example.org"), partition, round_number)
    for one in visits:
        archive.keep(one, Kind.NOT_MODIFIED if one.answer.status == 304 else Kind.FETCHED)
    return list(archive.save())


def make_captured(store: Store) -> Snapshot:
    """Make a crawl that has archives and captures alone, of two rounds."""
    create_crawl(store, PARTITIONS)
    for number, answers in enumerate(ROUNDS, 1):
        before = load_current(store)
        files = [entry for entry in before.files if entry.kind != "captures"]
        for partition in range(PARTITIONS):
            mine = [visit(*one) for one in answers if partition_of(host_of(one[0]), PARTITIONS) == partition]
            new = archived(store, mine, partition, number)
            tables = before.files_of("captures", partition)
            numbers = {"partition": partition, "round_number": number}
            files += [entry for entry in new if entry.kind == "pages"]
            files += merge_captures(store, tables, new, **numbers) or tables
        commit(store, before, files=tuple(files), round_number=number)
    return load_current(store)


def all_captures(store: Store) -> dict[bytes, list[CaptureRecord]]:
    """Return all captures of the current snapshot."""
    return dict(merged_rows(store, tables_of(load_current(store).files)))


def unlist(store: Store) -> None:
    """Make a crawl look as if it had been made before there were captures."""
    snapshot = load_current(store)
    files = [entry for entry in snapshot.files if entry.kind != "captures"]
    files = [replace(one, counters=_without(one)) if one.kind == "pages" else one for one in files]
    commit(store, snapshot, files=tuple(files), round_number=snapshot.round)


def _without(entry: FileEntry) -> dict[str, int]:
    return {name: count for name, count in entry.counters.items() if name != LISTED}
