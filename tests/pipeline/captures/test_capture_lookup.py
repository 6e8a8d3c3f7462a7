from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.captures.capture_lookup import captures_of, read_capture
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.warc.warc_reader import split_http
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.captures.made_captures import B, make_captured

if TYPE_CHECKING:
    from pathlib import Path


class CountingStore(LocalStore):
    """Remembers which ranges of archives are read."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.reads: list[tuple[int, int | None]] = []

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        if name.startswith("pages/"):
            self.reads.append((start, length))
        return super().read(name, start, length)


def test_a_page_is_read_by_one_read_of_exactly_its_record(tmp_path: Path) -> None:
    store = CountingStore(tmp_path / "crawl")
    snapshot = make_captured(store)
    first, second = captures_of(store, snapshot, B)
    assert store.reads == []
    (block,) = read_capture(store, second)
    assert split_http(block)[1] == b"more bears"
    assert store.reads == [(second.offset, second.length)]
    request, answer = read_capture(store, first, with_request=True)
    assert request.startswith(b"GET /x?b=2&a=1 HTTP/1.1\r\n") and answer.endswith(b"\r\n\r\nbears")
    assert store.reads[1:] == [(first.offset - first.request, first.request + first.length)]
    assert captures_of(store, snapshot, B + "&c") == []


def test_a_record_that_is_not_there_is_told_with_its_offset(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    capture = captures_of(store, make_captured(store), B)[0]
    with pytest.raises(CorruptFile, match="ends within a record"):
        read_capture(store, replace(capture, length=capture.length + 9999))
    with pytest.raises(CorruptFile) as error:
        read_capture(store, replace(capture, offset=capture.offset + 5, length=capture.length - 5))
    assert error.value.offset >= capture.offset
