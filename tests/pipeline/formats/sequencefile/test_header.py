from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.header import (
    CHECKSUM_KEY,
    MAX_HEADER_BYTES,
    Header,
    encode_checked_header,
    encode_header,
    read_header,
)
from crawlctl.pipeline.formats.sequencefile.writables import BYTES, TEXT
from crawlctl.pipeline.formats.window import Window
from crawlctl.tests.bytes_source import BytesSource

SYNC = bytes(range(16))
DEFAULT_CODEC = "org.apache.hadoop.io.compress.DefaultCodec"


def parse(data: bytes) -> Header:
    return read_header(Window(BytesSource(data, "part-0"), len(data)))


def test_a_header_is_that_of_hadoop_byte_for_byte() -> None:
    header = Header(TEXT, BYTES, "block", DEFAULT_CODEC, SYNC, {"b": "2", "a": "1"})
    expected = (
        b"SEQ\x06\x19org.apache.hadoop.io.Text\x22org.apache.hadoop.io.BytesWritable\x01\x01"
        b"\x2aorg.apache.hadoop.io.compress.DefaultCodec\x00\x00\x00\x02\x01a\x011\x01b\x012" + SYNC
    )
    assert encode_header(header) == expected


headers = st.builds(
    Header,
    st.text(max_size=200),
    st.text(max_size=200),
    st.just("block") | st.just("record"),
    st.text(min_size=1, max_size=200),
    st.binary(min_size=16, max_size=16),
    st.dictionaries(st.text(max_size=300), st.text(max_size=300), max_size=5),
)


@given(headers, st.binary(max_size=40))
def test_a_header_reads_back_and_tells_where_it_ends(header: Header, body: bytes) -> None:
    encoded = encode_header(header)
    found = parse(encoded + body)
    assert found.end == len(encoded)
    assert encode_header(found) == encoded
    assert found.metadata == header.metadata


def test_a_file_without_compression_names_no_codec() -> None:
    encoded = encode_header(Header(TEXT, BYTES, "none", "", SYNC))
    assert parse(encoded) == Header(TEXT, BYTES, "none", "", SYNC, {}, len(encoded))


PLAIN = encode_header(Header("k", "v", "none", "", SYNC))  # SEQ 6, 01 k, 01 v, 00 00, 00000000, sync


@pytest.mark.parametrize("length", range(len(PLAIN)))
def test_a_header_cut_anywhere_is_refused(length: int) -> None:
    with pytest.raises(CorruptFile, match=r"^part-0: damaged at byte \d+: "):
        parse(PLAIN[:length])


@pytest.mark.parametrize(
    ("data", "offset", "reason"),
    [
        (b"PK\x03\x04" + PLAIN[4:], 0, "not a SequenceFile"),
        (b"SEQ\x04" + PLAIN[4:], 3, "version 4; only 6"),
        (b"SEQ\x06\x01\xff" + PLAIN[6:], 4, "not UTF-8"),
        (b"SEQ\x06\xff" + PLAIN[5:], 4, "a string of -1 bytes"),
        (b"SEQ\x06\x8c\x7f\xff\xff\xff" + PLAIN, 9, "a header above"),
        (b"SEQ\x06\x88\x7f" + b"\xff" * 7 + PLAIN, 13, "a header above"),
        (PLAIN[:8] + b"\x00\x01" + PLAIN[10:], 8, "compression flags 0, 1"),
        (PLAIN[:8] + b"\x07\x00" + PLAIN[10:], 8, "compression flags 7, 0"),
        (PLAIN[:10] + struct.pack(">i", -5) + PLAIN[14:], 10, "-5 entries"),
        (PLAIN[:10] + struct.pack(">i", 2**31 - 1) + PLAIN[14:], 10, "2147483647 entries"),
    ],
)
def test_damage_is_named_with_its_offset(data: bytes, offset: int, reason: str) -> None:
    with pytest.raises(CorruptFile) as caught:
        parse(data)
    assert (caught.value.name, caught.value.offset) == ("part-0", offset)
    assert reason in caught.value.reason


def test_endless_metadata_are_refused() -> None:
    entry = b"\x64" + b"k" * 100 + b"\x00"
    entries = MAX_HEADER_BYTES // len(entry) + 1
    data = PLAIN[:10] + struct.pack(">i", entries) + entry * entries + SYNC
    with pytest.raises(CorruptFile, match="a header above"):
        parse(data)


def test_a_header_no_reader_would_take_is_not_written() -> None:
    with pytest.raises(ValueError, match="keep metadata below"):
        encode_header(Header(TEXT, BYTES, "none", "", SYNC, {"x": "y" * MAX_HEADER_BYTES}))


OURS = Header(TEXT, BYTES, "block", DEFAULT_CODEC, SYNC, {"crawlctl.kind": "links", "other": "x"})
CHECKED = encode_checked_header(OURS)


@given(headers, st.binary(max_size=40))
def test_a_header_with_a_checksum_is_the_same_header_a_little_longer(header: Header, body: bytes) -> None:
    encoded = encode_checked_header(header)
    found = parse(encoded + body)
    assert found == replace(header, end=len(encoded))


def test_hadoop_sees_the_checksum_as_one_more_entry_of_metadata() -> None:
    blank = encode_header(replace(OURS, metadata={**OURS.metadata, CHECKSUM_KEY: "00000000"}))
    assert len(CHECKED) == len(blank)
    assert sum(ours != theirs for ours, theirs in zip(CHECKED, blank, strict=True)) <= 8


def test_each_flipped_bit_of_a_checked_header_is_told_or_is_in_the_name_of_the_checksum() -> None:
    name_at = CHECKED.index(CHECKSUM_KEY.encode())
    for place in range(8 * len(CHECKED)):
        at, bit = divmod(place, 8)
        damaged = CHECKED[:at] + bytes([CHECKED[at] ^ 1 << bit]) + CHECKED[at + 1 :]
        if name_at <= at < name_at + len(CHECKSUM_KEY):
            continue  # then it is an entry that nobody asks for
        with pytest.raises(CorruptFile, match=r"^part-0: "):
            parse(damaged)


def test_an_older_table_of_ours_with_classes_that_we_never_write_is_damaged() -> None:
    damaged = encode_header(replace(OURS, value_class=BYTES.replace("Bytes", "Cytes")))
    with pytest.raises(CorruptFile, match="not the classes of a table of ours"):
        parse(damaged)
