"""AnswerReader: reads an archive into answers, as if they were fetched, with their places in the archive.

Records that are no answer to a request for a page are left out and counted: other record types, other schemes
than http and https, robots.txt, and content types that we do not read. Damaged records are counted by reason;
then the archive is searched for the next readable record.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.captures.capture_record import CaptureRecord, media_type
from crawlctl.pipeline.errors import CorruptFile, UrlError
from crawlctl.pipeline.fetch.pages.outcomes import CONTENT
from crawlctl.pipeline.formats.warc.warc_date import seconds_of
from crawlctl.pipeline.formats.warc.warc_reader import WarcReader, split_http
from crawlctl.pipeline.http.body import SNIFFED_BYTES, must_be_whole
from crawlctl.pipeline.http.exchange import Answer, Request, Truncation, parse_headers
from crawlctl.pipeline.imports.response_body import UnknownEncoding, plain_body
from crawlctl.pipeline.text.documents.sniff import DocumentKind, sniff
from crawlctl.pipeline.urls.canonical import canonical, canonical_link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.formats.warc.warc_reader import WarcRecord

_BEGINNING = "1970-01-01T00:00:00"
_MAX_HEAD = 256 << 10
_SEARCHED = 1 << 20
_ZSTD_FLAGS = re.escape(bytes(flags for flags in range(256) if not flags & 8))
# How a record begins: with a gzip member (flags, time, level and system follow), a Zstandard frame, the WARC
# version, or a URL (ARC).
_BEGINNINGS = (
    re.compile(rb"\x1f\x8b\x08[\0-\x1f].{4}[\0\2\4][\0-\x0d\xff]", re.S),
    re.compile(rb"\x28\xb5\x2f\xfd[" + _ZSTD_FLAGS + rb"]"),
    re.compile(rb"WARC/"),
    re.compile(rb"^(?:filedesc|https?|dns):[^\n]{1,4096} \d{12,14} [^\n]{1,256} \d{1,18}\r?\n", re.M),
)
_LONGEST_BEGINNING = 8 << 10
# The parts of a reason that are about one record; without them equal reasons can be counted together.
_PARTICULARS = re.compile(r"\s*\(.*\)|'.*'|\".*\"|\d+", re.S)

RECORDS, DAMAGED, OTHER, UNREADABLE = "records", "damaged", "other records", "other kinds of page"
UNKNOWN_ENCODING = "pages in an unknown Content-Encoding"


class _Unusable(ValueError):
    """A record is sound but cannot be imported; the reason names no details of it."""


class AnswerReader:
    """Reads archives; `counts` counts their records by what happened to them."""

    def __init__(self, config: Config) -> None:
        self.counts: Counter[str] = Counter()
        self._strip = config.urls.strip_parameters
        self._max_body = int(config.fetch.max_body)
        # With one byte more than the limit the parser sees that a PDF is too long, and says so.
        self._max_read = max(self._max_body, config.parse.max_pdf + 1)

    def answers(self, source: RangedSource, name: str = "") -> Iterator[tuple[Answer, CaptureRecord]]:
        """Yield the answers in an archive called `name`, and where they lie, in the order of its records."""
        start: int | None = 0
        while start is not None:
            held: tuple[Answer, CaptureRecord] | None = None  # until the next record says where it ends
            before, is_shared = -1, False
            try:
                for record in WarcReader(source, start):
                    if held is not None:
                        yield _ending(held, record.offset, is_shared)
                    is_shared = record.offset == before
                    start, before, held = record.offset, record.offset, None
                    for answer in self._answers_of(record):
                        held = answer, _capture(record, answer, name)
                if held is not None:
                    yield _ending(held, source.size, is_shared)
                return
            except CorruptFile as err:
                if held is not None:
                    yield _ending(held, err.offset, is_shared)
                self._count_damage(err.reason)
                start = next_record(source, max(start or 0, err.offset) + 1)

    def _answers_of(self, record: WarcRecord) -> Iterator[Answer]:
        self.counts[RECORDS] += 1
        if record.type != "response" or not (record.url or "").lower().startswith(("http://", "https://")):
            self.counts[OTHER] += 1
            return
        block = record.read(min(record.length, _MAX_HEAD + self._max_read))
        try:
            answer = self._answer(record, block)
        except UnknownEncoding:
            self.counts[UNKNOWN_ENCODING] += 1
            return
        except (UrlError, ValueError) as err:
            self._count_damage(str(err) if isinstance(err, _Unusable) else "a record makes no sense")
            return
        if answer is None or answer.url.partition("://")[2].partition("/")[2] == "robots.txt":
            self.counts[OTHER] += 1
        elif answer.status in CONTENT and sniff(answer.content_type, answer.body) is DocumentKind.UNSUPPORTED:
            self.counts[UNREADABLE] += 1
        else:
            yield answer

    def _count_damage(self, reason: str) -> None:
        self.counts[DAMAGED] += 1
        self.counts[f"{DAMAGED}: {_PARTICULARS.sub('…', reason)}"] += 1

    def _answer(self, record: WarcRecord, block: bytes) -> Answer | None:
        head, body = split_http(block)
        if not head.startswith(b"HTTP/"):
            return None
        version, _, rest = head.split(b"\n", 1)[0].partition(b" ")
        headers = parse_headers(head)
        url, status = self._url(record), _status(rest)
        return Answer(
            request=Request(url),
            url=url,
            started=record_time(record.header("WARC-Date") or ""),
            status=status,
            version=version[5:].decode("ascii", "replace"),
            head=head,
            headers=headers,
            body=self._cut(plain_body(body, dict(reversed(headers)), self._max_read)),
            redirect=self._redirect(url, dict(reversed(headers)).get("location", ""), status),
            truncated=_truncation(record.header("WARC-Truncated")),
            wire_bytes=record.length,
        )

    def _cut(self, body: bytes) -> bytes:
        """Return a body cut to the length that a fetched body may have (http/body.py)."""
        return body if must_be_whole(body[:SNIFFED_BYTES]) else body[: self._max_body]

    def _url(self, record: WarcRecord) -> str:
        try:
            return canonical(record.url or "", self._strip)
        except UrlError as err:
            raise _Unusable("the URL of a record cannot be fetched") from err

    def _redirect(self, url: str, location: str, status: int) -> str | None:
        if not location or not 300 <= status < 400:
            return None
        try:
            return canonical_link(url, location, self._strip)
        except UrlError:
            return None


def _capture(record: WarcRecord, answer: Answer, name: str) -> CaptureRecord:
    """Return where an answer lies, as far as it is known before the next record."""
    digest = record.header("WARC-Payload-Digest") or ""
    about = int(answer.started), answer.status, media_type(answer.content_type), digest
    return CaptureRecord(*about, name, record.offset, 0)


def _ending(held: tuple[Answer, CaptureRecord], end: int, is_shared: bool) -> tuple[Answer, CaptureRecord]:
    """Return a capture with its length; 0 if records before it lie in the same gzip member or frame."""
    answer, capture = held
    return answer, capture if is_shared else replace(capture, length=max(0, end - capture.offset))


def _truncation(said: str | None) -> Truncation | None:
    """Return why a body is not whole; other archives may give reasons that are in no standard."""
    if not said:
        return None
    return Truncation(said) if said in set(Truncation) else Truncation.UNSPECIFIED


def _status(rest: bytes) -> int:
    """Return the status in a status line without its version; 0 if there is none."""
    words = rest.split()
    try:
        return int(words[0]) if words else 0
    except ValueError as err:
        raise _Unusable("an answer's status is no number") from err


def record_time(date: str) -> int:
    """Return the time of a WARC-Date, which is in UTC; the last parts of the date may be missing.

    A record without a date is refused, because the age of its page would be unknown.
    """
    given = date.strip().rstrip("Z")[: len(_BEGINNING)]
    try:
        seconds = seconds_of(given + _BEGINNING[len(given) :] + "Z") if given else 0
    except ValueError as err:
        raise _Unusable("a record's date is none") from err
    if seconds <= 0:
        raise _Unusable("a record's date is before there was a web")
    return seconds


def next_record(source: RangedSource, start: int) -> int | None:
    """Return the offset, from `start` on, of bytes that look like a record of this archive."""
    # A plain archive may have gzip in its pages, so only the form of its start is searched, if that is known.
    head = source.read(0, _LONGEST_BEGINNING)
    marks = [mark for mark in _BEGINNINGS if mark.match(head)] or _BEGINNINGS
    while start < source.size:
        piece = source.read(start, _SEARCHED)
        found = [hit.start() for hit in (mark.search(piece) for mark in marks) if hit]
        if found:
            return start + min(found)
        if len(piece) <= _LONGEST_BEGINNING:
            return None
        start += len(piece) - _LONGEST_BEGINNING
    return None
