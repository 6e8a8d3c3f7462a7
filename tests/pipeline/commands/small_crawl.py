"""A small crawl on disk, with a page of every kind: WebDB, host tables, documents and archives."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.warc.warc_writer import Capture, Original, WarcWriter
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.politeness.host_state import HostState, KnownRobots
from crawlctl.pipeline.robots.robots import Robots, robots_for_status
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.urls.hosts import host_of, partition_of, webdb_key
from crawlctl.pipeline.webdb.records import LIVE, Status, WebEntry, encode
from crawlctl.pipeline.webdb.row_files import write_table
from crawlctl.tests.pipeline.webdb.layered_part import write_layered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crawlctl.pipeline.store.base import Store

PARTITIONS = 3
VISITED = 1_700_000_000
FAR = 4_000_000_000  # seconds: in the year 2096
LATE = "2096-10-02 07:06"

A, B, SILENT = "https://a.example/", "http://b.example:8080/", "https://aa.example/"


def entry(
    status: Status, code: int = 0, *, due: int = FAR, tries: int = 0, reason: str = "", leads_to: str = ""
) -> WebEntry:
    """Return an entry that was visited if it has a code, a reason or failed tries."""
    visited = VISITED if code or tries or reason else 0
    return WebEntry(
        *(status, due, 0.5, 1, VISITED, visited, visited if status in LIVE else 0),
        code=code,
        tries=tries,
        reason=reason,
        redirect_to=leads_to if status is Status.REDIRECTED else "",
        canonical=leads_to if status is Status.DUPLICATE else "",
    )


PAGES: dict[str, WebEntry] = {
    A: entry(Status.FETCHED, 200),
    A + "same": entry(Status.UNCHANGED, 304, due=1),
    A + "gone-1": entry(Status.GONE, 404),
    A + "gone-2": entry(Status.GONE, 404),
    A + "old": entry(Status.REDIRECTED, 301, leads_to=A),
    A + "print": entry(Status.DUPLICATE, 200, leads_to=A),
    A + "secret": entry(Status.FORBIDDEN, reason="robots.txt: Disallow: /secret"),
    A + "private": entry(Status.FORBIDDEN, reason="robots.txt: Disallow: /private"),
    A + "slow": entry(Status.FETCHED, tries=2, reason="timeout: no answer in 60 s"),
    A + "new": entry(Status.UNFETCHED, due=1),
    B: entry(Status.FETCHED, 200),
    B + "broken": entry(Status.FAILED, 503, tries=3, reason="status 503"),
    B + "photo.jpg": entry(Status.EXCLUDED, reason="scope.skip_extensions: a file of type jpg"),
    SILENT: entry(Status.UNFETCHED, due=1),
}
ROBOTS = Robots.parse(b"User-agent: *\nDisallow: /secret\nCrawl-delay: 7\n", "crawlctl")
UNREAD = robots_for_status(None, b"", "crawlctl")
HOSTS = {
    host_of(A): HostState({"https": KnownRobots(ROBOTS, VISITED, 200)}, pages=9, ip="192.0.2.1"),
    host_of(SILENT): HostState(
        {"https": KnownRobots(UNREAD, VISITED)}, failures=4, reason="no answer", left=1, not_before=FAR
    ),
}
TEXTS = {A: "All about apes.\nThey eat.", A + "same": "Bears sleep.", B: "Cats \x1b[31m purr."}


def write_crawl(store: Store, pages: Mapping[str, WebEntry] = PAGES) -> None:
    """Write the crawl; each page with a text has a document and an archived answer."""
    files = [
        *_tables(store, pages),
        *_documents(store),
        *(archive(store, [capture(url, text.encode())]) for url, text in TEXTS.items()),
    ]
    commit(store, create_crawl(store, PARTITIONS), files=tuple(files), round_number=1)


def archive(
    store: Store, captures: Sequence[Capture], *, round_number: int = 1, partition: int | None = None
) -> FileEntry:
    """Write an archive, by default of its first page's partition; captures without a body are revisits."""
    place = partition_of(host_of(captures[0].url), PARTITIONS) if partition is None else partition
    with store.write(data_name("pages", place, round_number, ".warc.gz")) as sink:
        writer = WarcWriter(sink, "test.warc.gz", {})
        for one in captures:
            if one.body:
                writer.capture(one)
            else:
                writer.not_modified(one, Original(one.url, VISITED))
    return FileEntry("pages", place, sink.name, sink.bytes, writer.records, sink.checksum)


def capture(url: str, body: bytes, date: float = VISITED, content_type: str = "text/plain") -> Capture:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nX-Odd: \x1b[31m\r\n\r\n".encode()
    return Capture(url, date, f"GET {url} HTTP/1.1\r\nAccept: */*\r\n\r\n".encode(), head, body)


def _tables(store: Store, pages: Mapping[str, WebEntry]) -> Iterable[FileEntry]:
    entries: defaultdict[int, dict[bytes, bytes]] = defaultdict(dict)
    for url, one in pages.items():
        entries[partition_of(host_of(url), PARTITIONS)][webdb_key(url)] = encode(one)
    states: defaultdict[int, dict[bytes, bytes]] = defaultdict(dict)
    for host, state in HOSTS.items():
        states[partition_of(host, PARTITIONS)][host.encode()] = encode(state)
    for partition, rows in entries.items():
        keys = sorted(rows)
        values = [rows[key] for key in keys]
        yield from write_layered(store, keys, values, partition=partition, round_number=1)
    for partition, rows in states.items():
        keys = sorted(rows)
        block = keys, [rows[key] for key in keys]
        yield write_table(store, "hosts", [block], partition=partition, round_number=1)


def _documents(store: Store) -> Iterable[FileEntry]:
    for url, text in TEXTS.items():
        builder = RunBuilder()
        title = f"Title of {url}"
        builder.add(Document(url, title, text=text, language="en", fetched_at=VISITED, signature=b"s"))
        partition = partition_of(host_of(url), PARTITIONS)
        yield from builder.write(store, partition=partition, round_number=1)
