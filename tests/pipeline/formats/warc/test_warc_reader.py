from __future__ import annotations

import gzip
import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.warcwriter import WARCWriter

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.source import PathSource
from crawlctl.pipeline.formats.warc.warc_reader import WarcReader, split_http
from crawlctl.pipeline.formats.warc.warc_writer import Capture, WarcWriter
from crawlctl.tests.bytes_source import BytesSource
from crawlctl.tests.effort import examples

SHARED = Path(__file__).parents[5] / "shared" / "data" / "warc"
REAL_FILES = ["example.warc.gz", "whirlwind.warc.gz"]


def record(url: str, block: bytes, newline: bytes = b"\r\n") -> bytes:
    lines = [
        b"WARC/1.0",
        b"WARC-Type: resource",
        b"WARC-Target-URI: <" + url.encode() + b">",
        b"content-length: %d" % len(block),
        b"",
    ]
    return newline.join([*lines, block]) + newline * 2


def read_all(data: bytes) -> list[tuple[int, str | None, bytes]]:
    return [(record.offset, record.url, record.read()) for record in WarcReader(BytesSource(data, "x.warc"))]


BLOCKS = [b"one", b"", b"three" * 40_000, b"\r\n\r\nWARC/1.0\r\n"]
RECORDS = [record(f"http://a/{number}", block) for number, block in enumerate(BLOCKS)]
EXPECTED = [(f"http://a/{number}", block) for number, block in enumerate(BLOCKS)]


@pytest.mark.parametrize("newline", [b"\r\n", b"\n"])
def test_a_plain_file_is_read(newline: bytes) -> None:
    records = [record(url, block, newline) for url, block in EXPECTED]
    found = read_all(b"".join(records))
    assert [entry[1:] for entry in found] == EXPECTED
    assert [entry[0] for entry in found] == [sum(map(len, records[:n])) for n in range(len(records))]


def test_a_file_with_a_member_for_each_record_is_read() -> None:
    members = [gzip.compress(each) for each in RECORDS]
    found = read_all(b"".join(members))
    assert [entry[1:] for entry in found] == EXPECTED
    assert [entry[0] for entry in found] == [sum(map(len, members[:n])) for n in range(len(members))]


def test_a_file_that_is_one_member_is_read() -> None:
    assert [entry[1:] for entry in read_all(gzip.compress(b"".join(RECORDS)))] == EXPECTED


def test_a_record_is_found_by_its_offset() -> None:
    members = [gzip.compress(each) for each in RECORDS]
    offset = len(members[0]) + len(members[1])
    found = next(iter(WarcReader(BytesSource(b"".join(members)), offset)))
    assert (found.offset, found.read()) == (offset, BLOCKS[2])


def test_what_is_not_read_of_a_block_is_skipped() -> None:
    data = b"".join(gzip.compress(each) for each in RECORDS)
    assert [record.read(3) for record in WarcReader(BytesSource(data))] == [block[:3] for block in BLOCKS]


def test_a_record_cannot_be_read_after_the_next_one_is_taken() -> None:
    records = iter(WarcReader(BytesSource(b"".join(RECORDS))))
    first = next(records)
    next(records)
    with pytest.raises(ValueError, match="another record"):
        first.read()


def test_fields_may_be_folded_and_of_any_case() -> None:
    data = b"WARC/1.1\r\nwarc-type: resource\r\nX-Long: one\r\n two\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    (found,) = WarcReader(BytesSource(data))
    assert (found.type, found.version, found.header("x-long")) == ("resource", "WARC/1.1", "one two")


@pytest.mark.parametrize("name", REAL_FILES)
def test_real_files_are_read_as_warcio_reads_them(name: str) -> None:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"needs the shared data: {name}")
    ours = [
        (record.type, record.header("WARC-Record-ID"), record.read())
        for record in WarcReader(PathSource(path))
    ]
    with path.open("rb") as file:
        theirs = [
            (each.rec_type, each.rec_headers.get_header("WARC-Record-ID"), each.raw_stream.read())
            for each in ArchiveIterator(file, no_record_parse=True)
        ]
    assert ours == theirs


# warcio does not close the temporary files it computes digests with.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("is_gzip", [True, False])
@given(blocks=st.lists(st.binary(max_size=300), min_size=1, max_size=5))
def test_what_warcio_writes_is_read(is_gzip: bool, blocks: list[bytes]) -> None:
    sink = io.BytesIO()
    writer = WARCWriter(sink, gzip=is_gzip)
    for number, block in enumerate(blocks):
        writer.write_record(
            writer.create_warc_record(f"http://a/{number}", "resource", payload=io.BytesIO(block))
        )
    expected = [(f"http://a/{number}", block) for number, block in enumerate(blocks)]
    assert [entry[1:] for entry in read_all(sink.getvalue())] == expected


@pytest.mark.parametrize("is_gzip", [True, False])
def test_a_file_cut_off_anywhere_gives_its_whole_records_and_then_says_where(is_gzip: bool) -> None:
    records = [record(f"http://a/{number}", b"block" * number) for number in range(3)]
    members = [gzip.compress(each) if is_gzip else each for each in records]
    data, starts = b"".join(members), [sum(map(len, members[:n])) for n in range(4)]
    for size in range(1, len(data)):
        found, damage = [], None
        try:
            for each in WarcReader(BytesSource(data[:size], "cut.warc")):
                found.append(each.read())
        except CorruptFile as err:
            damage = err.offset
        whole = [b"block" * n for n in range(3) if starts[n + 1] <= size]
        assert found[: len(whole)] == whole
        # Only the empty lines behind a block may be missing from a plain file.
        if size not in starts and not (not is_gzip and data[size:].lstrip(b"\r\n")[:4] in (b"WARC", b"")):
            assert damage == max(start for start in starts if start <= size)


@given(at=st.integers(0), bit=st.integers(0, 7), is_gzip=st.booleans())
@settings(max_examples=examples(300))
def test_damage_is_never_a_surprise(at: int, bit: int, is_gzip: bool) -> None:
    data = bytearray(b"".join(gzip.compress(each) if is_gzip else each for each in RECORDS[:2] + RECORDS[3:]))
    data[at % len(data)] ^= 1 << bit
    try:
        read_all(bytes(data))
    except CorruptFile as err:
        assert err.offset <= len(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", "not with WARC/"),
        (b"WARC/1.1\r\nWARC-Type: resource\r\n\r\n", "no Content-Length"),
        (b"WARC/1.1\r\nContent-Length: -1\r\n\r\n", "no Content-Length"),
        (b"WARC/1.1\r\nContent-Length: " + b"9" * 30 + b"\r\n\r\n", "no Content-Length"),
        (b"WARC/1.1\r\nnonsense\r\n\r\n", "no named field"),
        (b"WARC/1.1\r\nX: " + b"x" * 600_000 + b"\r\n\r\n", "longer than"),
        (b"WARC/1.1\r\n" + b"X: y\r\n" * 100_000 + b"\r\n", "longer than"),
        (
            gzip.compress(b"WARC/1.1\r\nContent-Length: 9\r\n\r\nabc", mtime=0) * 2,
            "longer than its gzip member",
        ),
        (gzip.compress(RECORDS[0], mtime=0) + b"garbage" * 10, "not a gzip member"),
        (gzip.compress(RECORDS[0], mtime=0) + b"\x1f", "ends within a gzip member"),
    ],
)
def test_what_is_no_warc_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(CorruptFile, match=reason):
        read_all(data)


def test_an_empty_file_has_no_records() -> None:
    assert read_all(b"") == []


def test_a_huge_record_is_read_in_little_memory() -> None:
    sink = io.BytesIO()
    size = 64 << 20
    WarcWriter(sink, "big", {}).capture(
        Capture("http://a/", 0.0, b"", b"HTTP/1.1 200 OK\r\n\r\n", bytes(size))
    )
    source = BytesSource(sink.getvalue())
    tracemalloc.start()
    seen = 0
    for each in WarcReader(source):
        while piece := each.read(10_000):
            seen += len(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seen > size
    assert peak < 4 << 20


def test_an_http_message_is_split_at_its_first_empty_line() -> None:
    assert split_http(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbo\n\ndy") == (
        b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n",
        b"bo\n\ndy",
    )
    assert split_http(b"HTTP/1.0 200 OK\n\nbo\r\n\r\ndy") == (b"HTTP/1.0 200 OK\n\n", b"bo\r\n\r\ndy")
    assert split_http(b"HTTP/1.0 200 OK\r\n") == (b"HTTP/1.0 200 OK\r\n", b"")
