"""What a damaged or hostile SequenceFile or MapFile may do to us: give records, or one CorruptFile."""

from __future__ import annotations

import io
import random
import struct
import tracemalloc
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import ByteStrings
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.codecs import CODECS
from crawlctl.pipeline.formats.sequencefile.header import Header, encode_header
from crawlctl.pipeline.formats.sequencefile.mapfile import HELD_BYTES, MapFileReader, MapFileWriter
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.vint import encode_vint
from crawlctl.pipeline.formats.sequencefile.writables import BYTES, NULL, TEXT
from crawlctl.tests.bytes_source import BytesSource
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.formats.sequencefile.header import Compression

LIMIT = 1 << 20
HELD = 3 * LIMIT + (8 << 20)  # what SequenceFileReader promises, and room for one stretch of tiny records
SYNC = bytes(range(16))
MARKER = b"\xff\xff\xff\xff" + SYNC
FORMS: list[tuple[Compression, str]] = [
    ("none", "default"),
    *(("record", codec) for codec in CODECS),
    *(("block", codec) for codec in CODECS),
]


@contextmanager
def memory_below(bound: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < bound
    finally:
        tracemalloc.stop()


def write(form: tuple[Compression, str], count: int = 30) -> bytes:
    sink = io.BytesIO()
    compression, codec = form
    with SequenceFileWriter(
        sink, compression=compression, codec=codec, sync=SYNC, block_bytes=400, sync_interval=200
    ) as writer:
        for number in range(count):
            writer.append(b"key%03d" % number, b"value " * (number % 7) * (number % 5))
    return sink.getvalue()


def read(data: bytes, limit: int = LIMIT) -> list[tuple[bytes, bytes]]:
    return list(SequenceFileReader(BytesSource(data, "part-0"), max_block_bytes=limit, read_ahead=4096))


def reason_of(data: bytes) -> tuple[int, str]:
    """Return offset and reason of the damage, found within the memory promised."""
    with memory_below(HELD), pytest.raises(CorruptFile) as caught:
        read(data)
    assert caught.value.name == "part-0"
    return caught.value.offset, caught.value.reason


FILES = {form: write(form) for form in FORMS}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_cut_inside_a_block_or_record_is_damaged(form: tuple[Compression, str]) -> None:
    data, whole = FILES[form], read(FILES[form])
    ends = {SequenceFileReader(BytesSource(data)).header.end}
    for length in range(len(data)):
        try:
            records = read(data[:length])
        except CorruptFile as err:
            assert 0 <= err.offset <= length
        else:
            assert records == whole[: len(records)]
            ends.add(length)
    # A cut between two blocks or records is all that can go unseen.
    assert len(ends) <= data.count(SYNC) + (0 if form[0] == "block" else len(whole))


edits = st.lists(
    st.tuples(
        st.sampled_from(["flip", "insert", "delete", "cut", "int", "copy"]),
        st.integers(0, 1 << 16),
        st.one_of(st.integers(0, 255), st.sampled_from([-1, 2**31 - 1, -(2**31), 1 << 24])),
    ),
    min_size=1,
    max_size=4,
)


def damage(data: bytes, changes: list[tuple[str, int, int]]) -> bytes:
    for kind, place, value in changes:
        at = place % (len(data) + 1)
        if kind == "flip":
            data = data[:at] + bytes([(data[at : at + 1] or b"\0")[0] ^ (value & 0xFF)]) + data[at + 1 :]
        elif kind == "insert":
            data = data[:at] + bytes([value & 0xFF]) + data[at:]
        elif kind == "delete":
            data = data[:at] + data[at + (value & 0xFF) :]
        elif kind == "cut":
            data = data[:at]
        elif kind == "int":
            data = data[:at] + struct.pack(">i", value) + data[at + 4 :]
        else:
            data = data[:at] + data[max(0, at - (value & 0xFF)) :]
    return data


@settings(max_examples=examples(200))
@given(st.sampled_from(FORMS), edits)
def test_a_damaged_file_gives_records_or_corrupt_file(
    form: tuple[Compression, str], changes: list[tuple[str, int, int]]
) -> None:
    source = BytesSource(damage(FILES[form], changes), "part-0")
    with memory_below(HELD):
        try:
            for key, value in SequenceFileReader(source, max_block_bytes=LIMIT):
                assert type(key) is type(value) is bytes
        except CorruptFile as err:
            assert err.name == "part-0"


def write_map(compression: Compression) -> tuple[bytes, bytes]:
    data, index = io.BytesIO(), io.BytesIO()
    with MapFileWriter(data, index, compression=compression, block_bytes=400) as writer:
        for number in range(300):
            writer.append(b"key%03d" % number, b"value %d" % number)
    return data.getvalue(), index.getvalue()


MAPS: dict[Compression, tuple[bytes, bytes]] = {"none": write_map("none"), "block": write_map("block")}


@settings(max_examples=examples(200), deadline=None)  # memory is traced, which takes its time
@given(
    st.sampled_from(sorted(MAPS)),
    edits,
    edits,
    st.sampled_from(["data", "index", "both"]),
    st.integers(0, 310),
)
def test_a_damaged_map_gives_values_or_corrupt_file(
    compression: Compression,
    in_data: list[tuple[str, int, int]],
    in_index: list[tuple[str, int, int]],
    where: str,
    number: int,
) -> None:
    data, index = MAPS[compression]
    data = damage(data, in_data) if where != "index" else data
    index = damage(index, in_index) if where != "data" else index
    reader = MapFileReader(BytesSource(data, "map"), BytesSource(index, "map"), max_block_bytes=LIMIT)
    with memory_below(2 * HELD):
        try:
            assert isinstance(reader.get(b"key%03d" % number), bytes | None)
            for key, value in reader.range(b"key%03d" % number, b"key250"):
                assert type(key) is type(value) is bytes
        except CorruptFile as err:
            assert err.name == "map"
        assert outcome(rows_of_strings(reader)) == outcome(reader.range())


def rows_of_strings(reader: MapFileReader) -> Iterator[tuple[bytes, bytes]]:
    for keys, values in reader.strings():
        yield from zip(keys, values, strict=True)


def outcome(rows: Iterator[tuple[bytes, bytes]]) -> tuple[list[tuple[bytes, bytes]], str]:
    """Return the records that come, and why no more do."""
    found: list[tuple[bytes, bytes]] = []
    try:
        found.extend(rows)
    except CorruptFile as err:
        return found, str(err)
    return found, ""


def head(compression: Compression, key_class: str = TEXT, value_class: str = BYTES) -> bytes:
    codec = "" if compression == "none" else CODECS["default"].class_name
    return encode_header(Header(key_class, value_class, compression, codec, SYNC))


def part(data: bytes) -> bytes:
    stream = zlib.compress(data, 9)
    return encode_vint(len(stream)) + stream


def block(count: int, key_lengths: bytes, keys: bytes, value_lengths: bytes, values: bytes) -> bytes:
    parts = (key_lengths, keys, value_lengths, values)
    return MARKER + encode_vint(count) + b"".join(map(part, parts))


KEYS, VALUES = (b"\x02", b"\x01k"), (b"\x05", b"\0\0\0\x01v")
BLOCK_HEAD = head("block")


def test_the_blocks_damaged_below_are_sound_before() -> None:
    assert read(BLOCK_HEAD + block(1, *KEYS, *VALUES)) == [(b"k", b"v")]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\xff\xff\xff\xff" + bytes(16) + block(1, *KEYS, *VALUES)[20:], "no sync marker"),
        (block(-1, *KEYS, *VALUES), "-1 records announced"),
        (block(2**31 - 1, *KEYS, *VALUES), "2147483647 records announced"),
        (block(2, *KEYS, *VALUES), "2 records announced, 1 bytes of key lengths"),
        (block(0, *KEYS, *VALUES), "more lengths than records"),
        (block(1, b"\x02\x02", b"\x01k\x01k", *VALUES), "more lengths than records"),
        (block(1, b"\x8f", b"\x01k", *VALUES), "a length is cut off"),
        (block(1, b"\xfe", b"\x01k", *VALUES), "a length is negative"),
        (block(1, b"\x80" + b"\xff" * 8, b"\x01k", *VALUES), "a length is negative"),
        (block(1, b"\x8c\x7f\xff\xff\xff", b"\x01k", *VALUES), "past the end of their block"),
        (block(1, b"\x01", b"\x01k", *VALUES), "disagrees with its block"),
        (block(1, b"\x02", b"\x01k!", *VALUES), "belong to no record"),
        (block(1, *KEYS, b"\x03", b"abc"), "3 bytes cannot be a BytesWritable"),
        (block(1, *KEYS, b"\x05", b"\0\0\0\x02v"), "BytesWritable disagrees"),
        (block(1, *KEYS, b"", b""), "fewer lengths than records"),
        (MARKER + b"\x01\x05hello", "key lengths: not a default stream"),
        (MARKER + b"\x01\xff", "key lengths of -1 bytes"),
        (MARKER + b"\x01\x8c\x7f\xff\xff\xff", "key lengths of 2147483647 bytes; the limit is"),
        (MARKER + b"\x01\x8e\xff\xff", "65535 bytes are missing"),
        (MARKER + b"\x01" + part(b"\x02") + part(bytes(50 << 20)), "keys: inflates to more than"),
        (MARKER + b"\x01" + part(bytes(50 << 20)), "key lengths: inflates to more than"),
        (block(1, *KEYS, *VALUES)[:-1], "bytes are missing"),
        (MARKER[:10], "20 bytes are missing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_damaged_block_is_named(body: bytes, reason: str) -> None:
    sound = block(1, *KEYS, *VALUES)
    offset, found = reason_of(BLOCK_HEAD + sound + body)
    assert len(BLOCK_HEAD + sound) <= offset <= len(BLOCK_HEAD + sound + body)
    assert reason in found
    source = BytesSource(BLOCK_HEAD + sound + body)
    with memory_below(HELD), pytest.raises(CorruptFile) as caught:
        reader = SequenceFileReader(source, max_block_bytes=LIMIT, read_ahead=4096)
        list(reader.strings_from(len(BLOCK_HEAD), source.size))
    assert (caught.value.offset, caught.value.reason) == (offset, found)


def test_the_parts_of_a_block_share_one_limit() -> None:
    keys = (
        b"\x8d" + (LIMIT // 2 + 4).to_bytes(3, "big"),
        b"\x8d" + (LIMIT // 2).to_bytes(3, "big") + bytes(LIMIT // 2),
    )
    values = (
        b"\x8d" + (LIMIT // 2 + 4).to_bytes(3, "big"),
        (LIMIT // 2).to_bytes(4, "big") + bytes(LIMIT // 2),
    )
    data = BLOCK_HEAD + block(1, *keys, *values)
    assert len(read(data, LIMIT + 100)) == 1
    assert "values: inflates to more than" in reason_of(data)[1]


def test_millions_of_empty_records_are_never_held_at_once() -> None:
    count = LIMIT // 2
    data = head("block", NULL, NULL) + block(count, bytes(count), b"", bytes(count), b"")
    reader = SequenceFileReader(BytesSource(data), max_block_bytes=LIMIT)
    with memory_below(HELD):
        assert sum(len(found.keys) for found in reader.blocks()) == count
    with memory_below(HELD):
        for found in reader.strings_from(reader.header.end, len(data)):
            assert isinstance(found.keys, ByteStrings)
            count -= len(found.keys)
    assert count == 0


def test_large_blocks_that_do_not_compress_stay_within_the_promise() -> None:
    limit, sink = 8 << 20, io.BytesIO()
    with SequenceFileWriter(sink, block_bytes=1) as writer:
        for number in range(3):
            writer.append(b"%d" % number, random.Random(number).randbytes(limit - 1000))
    source = BytesSource(sink.getvalue())
    with memory_below(4 * limit + (8 << 20)):  # the caller keeps one block while we read the next
        reader = SequenceFileReader(source, max_block_bytes=limit, read_ahead=4096)
        assert sum(len(block.values[0]) for block in reader.blocks()) == 3 * (limit - 1000)


NONE_HEAD, RECORD_HEAD = head("none"), head("record")


def record(length: int, key_length: int, data: bytes) -> bytes:
    return struct.pack(">ii", length, key_length) + data


SOUND = record(7, 2, b"\x01k\0\0\0\x01v")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (record(-2, 2, b""), "a record of -2 bytes"),
        (record(7, -1, SOUND[8:]), "-1 of them key"),
        (record(7, 8, SOUND[8:]), "8 of them key"),
        (record(2**31 - 1, 2, SOUND[8:]), "a record of 2147483647 bytes"),
        (record(LIMIT, 2, SOUND[8:]), f"{LIMIT} bytes are missing"),
        (record(7, 3, SOUND[8:]), "Text disagrees"),
        (record(8, 2, SOUND[8:] + b"!"), "BytesWritable disagrees"),
        (record(0, 0, b""), "0 bytes cannot be a Text"),
        (b"\xff\xff\xff\xff" + bytes(16) + SOUND, "a sync marker that is not this file's"),
        (MARKER[:19], "20 bytes are missing"),
        (SOUND[:5], "8 bytes are missing"),
        (SOUND[:-1], "7 bytes are missing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_damaged_record_is_named(body: bytes, reason: str) -> None:
    assert read(NONE_HEAD + SOUND) == [(b"k", b"v")]
    offset, found = reason_of(NONE_HEAD + SOUND + body)
    assert len(NONE_HEAD + SOUND) <= offset <= len(NONE_HEAD + SOUND + body)
    assert reason in found


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"hello", "not a default stream"),
        (zlib.compress(b"\0\0\0\x01v")[:-1], "cut off"),
        (zlib.compress(bytes(50 << 20), 9), "inflates to more than"),
        (zlib.compress(b"\0\0\0\x02v"), "BytesWritable disagrees"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_damaged_compressed_value_is_named(value: bytes, reason: str) -> None:
    sound = zlib.compress(b"\0\0\0\x01v")
    assert read(RECORD_HEAD + record(2 + len(sound), 2, b"\x01k" + sound)) == [(b"k", b"v")]
    offset, found = reason_of(RECORD_HEAD + record(2 + len(value), 2, b"\x01k" + value))
    assert offset == len(RECORD_HEAD)
    assert reason in found


def test_blocks_that_grow_when_a_key_is_found_are_not_all_kept() -> None:
    value = bytes(1 << 18)  # takes 300 bytes in the file
    data, index = io.BytesIO(), io.BytesIO()
    with MapFileWriter(data, index, block_bytes=len(value)) as writer:
        for number in range(64):
            writer.append(b"%03d" % number, value)
    reader = MapFileReader(BytesSource(data.getvalue()), BytesSource(index.getvalue()))
    with memory_below(4 * HELD_BYTES):
        for number in range(64):
            assert reader.get(b"%03d" % number) == value
