"""WACZ 1.1.1: archives, their index and a list of pages as one ZIP file, which replays in a browser.

    archive/….warc.gz        the chosen records, stored as they are
    indexes/index.cdx        CDXJ
    pages/pages.jsonl        the pages, one line of JSON each
    datapackage.json         the size and SHA-256 of each of these files
    datapackage-digest.json  the SHA-256 of datapackage.json

Records are copied byte for byte, neighbouring records together: the request and answer of each chosen
capture, and the first record of each archive, which says who wrote it. Pages that were imported are left out,
because their archives are files of the user, in any format.

https://specs.webrecorder.net/wacz/1.1.1/
"""

from __future__ import annotations

import json
import time
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from msgspec.structs import replace

from crawlctl import __version__
from crawlctl.pipeline.captures.capture_record import decode_captures, encode_captures
from crawlctl.pipeline.crawl.exports.cdxj import cdxj_line
from crawlctl.pipeline.crawl.exports.exported_captures import Exported, exported_captures, require_listed
from crawlctl.pipeline.crawl.exports.sorted_lines import SortedLines
from crawlctl.pipeline.formats.warc.warc_date import warc_date
from crawlctl.pipeline.formats.warc.warc_reader import WarcReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from crawlctl.pipeline.captures.capture_record import CaptureRecord
    from crawlctl.pipeline.crawl.exports.exported_captures import Chosen
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

    Located = tuple[CaptureRecord, str]  # a capture and its URL

_READ_BYTES = 8 << 20
_PAGES_HEAD = {"format": "json-pages-1.0", "id": "pages", "title": "Pages"}


def write_wacz(store: Store, snapshot: Snapshot, chosen: Chosen, sink: BinaryIO, scratch: Path) -> Exported:
    """Write the chosen pages as a WACZ file; lists that do not fit into memory go into `scratch`."""
    require_listed(snapshot)
    return _Wacz(store, sink, scratch).write(snapshot, chosen)


class _Wacz:
    """One WACZ file while it is written."""

    def __init__(self, store: Store, sink: BinaryIO, scratch: Path) -> None:
        self._store = store
        self._zip = ZipFile(sink, "w")
        self._by_place = SortedLines(scratch)
        self._index = SortedLines(scratch)
        self._pages = SortedLines(scratch)
        self._resources: list[dict[str, object]] = []
        self._done = Exported()

    def write(self, snapshot: Snapshot, chosen: Chosen) -> Exported:
        """Write all files of the package."""
        with self._zip:
            for url, captures in exported_captures(self._store, snapshot, chosen):
                self._collect(url, captures)
            for file, located in groupby(map(_located, self._by_place), key=lambda one: one[0].file):
                self._add(_name_in_package(file), self._records(file, located), ZIP_STORED)
                self._done.archives += 1
            self._add("indexes/index.cdx", self._index, ZIP_DEFLATED)
            head = json.dumps(_PAGES_HEAD).encode() + b"\n"
            self._add("pages/pages.jsonl", _chained(head, self._pages), ZIP_DEFLATED)
            self._describe()
        return self._done

    def _collect(self, url: str, captures: Sequence[CaptureRecord]) -> None:
        """Note the captures of a URL, and the page if its content can be shown."""
        own = [capture for capture in captures if not capture.is_imported]
        self._done.imported += len(captures) - len(own)
        for capture in own:
            packed = encode_captures([capture]).hex()
            line = json.dumps([url, packed])
            self._by_place.add(f"{capture.file}\t{capture.offset:020d}\t{line}".encode("ascii"))
        self._done.captures += len(own)
        self._done.pages += bool(own)
        shown = [one for one in own if 200 <= one.status < 300]
        if shown:
            page = {"id": str(self._done.pages), "url": url, "title": url, "ts": warc_date(shown[-1].time)}
            self._pages.add(json.dumps(page).encode("ascii"))

    def _records(self, file: str, located: Iterable[Located]) -> Iterator[bytes]:
        """Yield the bytes of the records of an archive; note their places in the package."""
        name = _name_in_package(file).rpartition("/")[2]
        start, end = 0, _first_record(self._store, file)
        written = end  # how many bytes of this archive the package has so far
        for capture, url in located:
            begin, stop = capture.offset - capture.request, capture.offset + capture.length
            if stop != end:  # a record that revisits refer to is given several times
                if begin != end:
                    yield from self._bytes(file, start, end)
                    start = begin
                written += stop - begin
                end = stop
            moved = replace(capture, file=name, offset=written - capture.length)
            self._index.add(cdxj_line(url, moved))
        yield from self._bytes(file, start, end)

    def _bytes(self, file: str, start: int, end: int) -> Iterator[bytes]:
        for at in range(start, end, _READ_BYTES):
            yield self._store.read(file, at, min(_READ_BYTES, end - at))

    def _add(self, name: str, data: Iterable[bytes], compression: int) -> str:
        """Write a file of the package and note its size and digest; return the digest."""
        digest, size = sha256(), 0
        info = ZipInfo(name, time.gmtime()[:6])
        info.compress_type = compression
        with self._zip.open(info, "w", force_zip64=True) as file:
            for some in data:
                file.write(some)
                digest.update(some)
                size += len(some)
        found = f"sha256:{digest.hexdigest()}"
        about = {"name": name.rpartition("/")[2], "path": name, "hash": found, "bytes": size}
        self._resources.append(about)
        return found

    def _describe(self) -> None:
        package = {
            "profile": "data-package",
            "wacz_version": "1.1.1",
            "software": f"crawlctl {__version__}",
            "created": warc_date(time.time()),
            "resources": list(self._resources),
        }
        digest = self._add("datapackage.json", [json.dumps(package, indent=2).encode()], ZIP_DEFLATED)
        about = json.dumps({"path": "datapackage.json", "hash": digest}).encode()
        self._add("datapackage-digest.json", [about], ZIP_DEFLATED)


def _located(line: bytes) -> Located:
    url, packed = json.loads(line.split(b"\t", 2)[2])
    (capture,) = decode_captures(bytes.fromhex(packed))
    return capture, url


def _name_in_package(file: str) -> str:
    """Return the name of an archive in the package; its folders become part of the name."""
    return "archive/" + "-".join(file.split("/")[1:])


def _first_record(store: Store, file: str) -> int:
    """Return the length of the first record of an archive, 0 if it is not about the archive."""
    records = iter(WarcReader(store.open(file)))
    first, second = next(records, None), next(records, None)
    return second.offset if first and second and first.type == "warcinfo" else 0


def _chained(head: bytes, lines: Iterable[bytes]) -> Iterator[bytes]:
    yield head
    yield from lines
