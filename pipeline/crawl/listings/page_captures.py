"""Finds the archived answers of a page, chooses one by its time, and reads it by one ranged read.

The tables of captures are read first. Archives that are older than such tables must be searched, which takes
long; `crawlctl check --repair` adds them to the tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from time import gmtime, strftime
from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.capture_lookup import captures_of, read_capture
from crawlctl.pipeline.captures.capture_record import has_answer, joined, original_of
from crawlctl.pipeline.errors import CorruptFile, MissingFile, NothingMatched, StoreUnavailable, UrlError
from crawlctl.pipeline.formats.warc.warc_reader import WarcReader, split_http
from crawlctl.pipeline.http.exchange import parse_headers
from crawlctl.pipeline.imports.answer_reader import record_time
from crawlctl.pipeline.imports.archive_file import open_archive
from crawlctl.pipeline.imports.response_body import UnknownEncoding, plain_body
from crawlctl.pipeline.terminal.utc import utc
from crawlctl.pipeline.urls.canonical import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.captures.capture_record import CaptureRecord
    from crawlctl.pipeline.crawl.listings.archive_search import ArchiveSearch
    from crawlctl.pipeline.formats.warc.warc_reader import WarcRecord
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_DIGITS = re.compile(r"\d{4}(?:\d\d){0,5}")
_PUNCTUATION = str.maketrans("", "", "-:TtZz. ")
_MAX_BODY = 1 << 30


@dataclass(frozen=True)
class ArchivedAnswer:
    """An archived answer that was read from its archive."""

    capture: CaptureRecord  # the record that was read
    seen: CaptureRecord  # the capture that was chosen: `capture`, or a revisit that found it unchanged
    request: bytes  # the bytes of the request; empty if not wanted, or not archived
    head: bytes
    body: bytes


def timestamp_of(moment: str) -> str:
    """Return the digits of a time that a user gives: 2026, 2026-05-09, 2026-05-09T12:00:00Z, 20260509."""
    digits = moment.translate(_PUNCTUATION)
    if not _DIGITS.fullmatch(digits):
        raise ValueError(f"{moment!r} is no time; give one such as 2026-05-09 or 2026-05-09T12:00:00Z")
    return digits


def capture_timestamp(capture: CaptureRecord) -> str:
    """Return the time of a capture in the 14 digits that web archives use."""
    return strftime("%Y%m%d%H%M%S", gmtime(capture.time))


def page_captures(store: Store, snapshot: Snapshot, search: ArchiveSearch, url: str) -> list[CaptureRecord]:
    """Return all captures of a canonical URL, the oldest first; archives without a table are searched."""
    return joined([*captures_of(store, snapshot, url), *search.all(url)])


class PageArchive:
    """The archived answers of one page of a crawl, by its canonical URL."""

    def __init__(self, store: Store, snapshot: Snapshot, search: ArchiveSearch, url: str) -> None:
        self._store = store
        self._snapshot = snapshot
        self._search = search
        self._url = url

    def captures(self, at: str | None = None) -> list[CaptureRecord]:
        """Return the captures until a time (its digits), the oldest first; without it at least the newest.

        Archives that the tables do not cover are searched only if the tables have no answer.
        """
        listed = captures_of(self._store, self._snapshot, self._url)
        if at is not None:
            listed = [one for one in listed if capture_timestamp(one)[: len(at)] <= at]
        if has_answer(listed) or not self._search.files:
            return listed
        if at is None:
            return self._search.newest(self._url, listed)
        found = [one for one in self._search.all(self._url) if capture_timestamp(one)[: len(at)] <= at]
        return joined([*listed, *found])

    def answer(
        self,
        captures: Sequence[CaptureRecord],
        *,
        with_request: bool = False,
        strip: Sequence[str] = (),
    ) -> ArchivedAnswer:
        """Read the newest of the given captures (at least one); for a revisit, read its original."""
        seen = captures[-1]
        capture = original_of(seen, captures)
        if capture is None:
            raise NothingMatched(
                f"{self._url} was unchanged when it was visited at {utc(seen.time)}, and its earlier answer "
                "is in no archive any more; `crawlctl refresh` and `crawlctl run` visit the page again"
            )
        if capture.is_imported:
            head, body = _imported(capture, self._url, strip)
            return ArchivedAnswer(capture, seen, b"", head, body)
        blocks = read_capture(self._store, capture, with_request=with_request)
        head, body = split_http(blocks[-1])
        return ArchivedAnswer(capture, seen, blocks[0] if len(blocks) > 1 else b"", head, body)


def _imported(capture: CaptureRecord, url: str, strip: Sequence[str]) -> tuple[bytes, bytes]:
    """Return head and body of an answer in an archive of the user, the body without encodings."""
    try:
        head, body = split_http(_imported_block(capture, url, strip))
    except (MissingFile, StoreUnavailable) as err:
        end = f" to {capture.offset + capture.length:,}" if capture.length else ""
        raise MissingFile(
            f"{url} was imported from {capture.file}, where its answer lies at byte {capture.offset:,}{end}; "
            f"the archive cannot be read here: put it back, or visit the page with `crawlctl run` ({err})"
        ) from err
    try:
        return head, plain_body(body, dict(reversed(parse_headers(head))), _MAX_BODY)
    except UnknownEncoding:
        return head, body


def _imported_block(capture: CaptureRecord, url: str, strip: Sequence[str]) -> bytes:
    source = open_archive(capture.file)
    for record in WarcReader(source, capture.offset):
        if record.offset != capture.offset:
            break
        # Records that were compressed together have the same offset: the time distinguishes versions of a
        # page.
        if (_answered_url(record, strip), _time_of(record)) == (url, capture.time):
            return record.read()
    raise CorruptFile(
        source.name, capture.offset, f"the answer of {url} is no longer there; import the archive again"
    )


def _answered_url(record: WarcRecord, strip: Sequence[str]) -> str | None:
    """Return the canonical URL that a record answers; None if the record is not an answer."""
    try:
        return canonical(record.url or "", tuple(strip)) if record.type == "response" else None
    except UrlError:
        return None


def _time_of(record: WarcRecord) -> int | None:
    try:
        return record_time(record.header("WARC-Date") or "")
    except ValueError:
        return None
