from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawlctl.pipeline.config.settings import FetchSettings
from crawlctl.pipeline.fetch.pages.page_reader import Visit
from crawlctl.pipeline.fetch.save.archive import Archive, capture_of
from crawlctl.pipeline.formats.warc.warc_writer import WarcWriter
from crawlctl.pipeline.http.exchange import Answer, ErrorKind, FetchError, Request, Truncation
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.records import Kind, Status, WebEntry

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry

URL = "http://a/"
CONTACT = FetchSettings(contact="x@example.org")
ENTRY = WebEntry(Status.FETCHED, next_due=0, score=1.0, depth=0, first_seen=0, last_fetched=1_700_000_000)


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


@pytest.fixture
def archive(store: LocalStore) -> Archive:
    return Archive(store, CONTACT, 3, 7)


def visit(status: int, body: bytes = b"", error: ErrorKind | None = None) -> Visit:
    head = b"HTTP/1.1 %d X\r\nContent-Type: text/html\r\n\r\n" % status
    failure = FetchError(error, "why") if error else None
    answer = Answer(
        request=Request(URL), url=URL, started=1.8e9, status=status, head=head, body=body, error=failure
    )
    return Visit(b"a http://a/", URL, ENTRY, answer)


def records(store: LocalStore, entry: FileEntry) -> list[tuple[str, str, bytes]]:
    """Return the type, the profile and the body of each record, with its digests checked."""
    found = []
    for record in ArchiveIterator(io.BytesIO(store.read(entry.name)), check_digests="raise"):
        profile = record.rec_headers.get_header("WARC-Profile") or ""
        found.append((record.rec_type, profile.rpartition("/")[2], record.content_stream().read()))
    return found


def test_an_answer_is_kept_with_its_request(archive: Archive, store: LocalStore) -> None:
    archive.keep(visit(200, b"<p>page"), Kind.FETCHED)
    entry, *_ = archive.save()
    assert entry.name.startswith("pages/00003/00000007-")
    assert entry.name.endswith(".warc.gz") and entry.records == 3
    kinds = [(kind, body) for kind, _, body in records(store, entry)]
    assert [kind for kind, _ in kinds] == ["warcinfo", "request", "response"]
    assert kinds[2][1] == b"<p>page"


def test_an_unmodified_page_is_a_revisit_of_the_one_fetched_before(
    archive: Archive, store: LocalStore
) -> None:
    archive.keep(visit(304), Kind.NOT_MODIFIED)
    entry, *_ = archive.save()
    assert records(store, entry)[2][:2] == ("revisit", "server-not-modified")
    (revisit,) = [r for r in ArchiveIterator(io.BytesIO(store.read(entry.name))) if r.rec_type == "revisit"]
    assert revisit.rec_headers.get_header("WARC-Refers-To-Date") == "2023-11-14T22:13:20Z"


def test_what_was_not_answered_begins_no_file(archive: Archive, store: LocalStore) -> None:
    archive.keep(visit(0, error=ErrorKind.DNS), Kind.FAILED)
    archive.keep(visit(200, error=ErrorKind.UNWANTED_TYPE), Kind.EXCLUDED)
    assert not archive.save() and not list(store.list("pages/"))


def test_each_save_ends_a_file(archive: Archive) -> None:
    names = set()
    for _ in range(2):
        archive.keep(visit(404, b"no"), Kind.GONE)
        entry, *_ = archive.save()
        assert entry is not None
        names.add(entry.name)
    assert len(names) == 2 and not archive.save()


def test_an_abandoned_file_is_never_there(archive: Archive, store: LocalStore) -> None:
    archive.keep(visit(200, b"page"), Kind.FETCHED)
    archive.abandon(RuntimeError("over"))
    assert not list(store.list("pages/")) and not archive.save()


def test_an_answer_of_http_2_that_was_compressed_and_cut_off_can_be_archived() -> None:
    answer = Answer(
        request=Request("http://example.com/ä", etag='"1"'),
        url="http://example.com/%C3%A4",
        started=0.0,
        status=200,
        version="2",
        head=b"HTTP/2 200 \r\ncontent-encoding: br\r\ncontent-length: 99\r\n\r\n",
        body=b"hello",
        truncated=Truncation.TIME,
        ip="192.0.2.1",
    )
    sink = io.BytesIO()
    WarcWriter(sink, "a.warc.gz", {}).capture(capture_of(answer, CONTACT))
    sink.seek(0)
    _, request, response = [
        (record.rec_headers, record.http_headers, record.content_stream().read())
        for record in ArchiveIterator(sink, check_digests="raise")
    ]
    assert request[1].get_header("if-none-match") == '"1"'
    assert request[1].get_header("host") == "example.com"
    assert response[0].get_header("WARC-Truncated") == "time"
    assert response[0].get_header("WARC-Protocol") == "h2"
    assert response[1].get_header("x-crawler-content-encoding") == "br"
    assert response[1].get_header("content-length") == "5"
    assert response[2] == b"hello"


def test_what_was_not_answered_cannot_be_archived() -> None:
    answer = Answer(request=Request("http://a/"), url="http://a/", started=0.0)
    with pytest.raises(ValueError, match="nothing to archive"):
        capture_of(answer, CONTACT)
