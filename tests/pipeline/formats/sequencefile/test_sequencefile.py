from __future__ import annotations

import io
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import UnsupportedFile
from crawlctl.pipeline.formats.sequencefile.codecs import CODECS
from crawlctl.pipeline.formats.sequencefile.header import Header, encode_header
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import LONG, NULL, pack_long
from crawlctl.tests.bytes_source import BytesSource

if TYPE_CHECKING:
    from typing import BinaryIO

    from crawlctl.pipeline.formats.sequencefile.header import Compression

Records = list[tuple[bytes, bytes]]

SYNC = bytes(range(16))
FORMS: list[tuple[Compression, str]] = [
    ("none", "default"),
    *(("record", codec) for codec in CODECS),
    *(("block", codec) for codec in CODECS),
]
forms = st.sampled_from(FORMS)
record_lists = st.lists(st.tuples(st.binary(max_size=200), st.binary(max_size=300)), max_size=40)


def open_writer(
    sink: BinaryIO, form: tuple[Compression, str], *, sync_interval: int = 300, max_block_bytes: int = 1 << 20
) -> SequenceFileWriter:
    """Return a writer of files with many markers."""
    return SequenceFileWriter(
        sink,
        compression=form[0],
        codec=form[1],
        sync=SYNC,
        block_bytes=300,
        sync_interval=sync_interval,
        max_block_bytes=max_block_bytes,
    )


def write(records: Records, form: tuple[Compression, str]) -> bytes:
    sink = io.BytesIO()
    with open_writer(sink, form) as writer:
        for key, value in records:
            writer.append(key, value)
    return sink.getvalue()


def read(data: bytes) -> Records:
    return list(SequenceFileReader(BytesSource(data), read_ahead=100))


@given(record_lists, forms)
def test_records_read_back(records: Records, form: tuple[Compression, str]) -> None:
    assert read(write(records, form)) == records


@pytest.mark.parametrize("form", [("none", "default"), ("record", "default"), ("block", "default")])
def test_markers_among_the_records_are_passed(form: tuple[Compression, str]) -> None:
    records = [(b"key%d" % number, b"value %d" % number * number) for number in range(30)]
    sink = io.BytesIO()
    with open_writer(sink, form, sync_interval=100) as writer:
        writer.extend([key for key, _ in records], [value for _, value in records])
    assert sink.getvalue().count(SYNC) > 5
    assert read(sink.getvalue()) == records


@given(record_lists, forms, st.data())
def test_the_file_is_the_same_however_records_are_handed_in(
    records: Records, form: tuple[Compression, str], draw: st.DataObject
) -> None:
    sink = io.BytesIO()
    with open_writer(sink, form) as writer:
        rest = records
        while rest:
            count = draw.draw(st.integers(1, len(rest)))
            writer.extend([key for key, _ in rest[:count]], [value for _, value in rest[:count]])
            rest = rest[count:]
        assert writer.records == len(records)
    assert sink.getvalue() == write(records, form)
    assert writer.position == len(sink.getvalue())


@pytest.mark.parametrize("form", FORMS)
def test_blocks_know_where_they_lie(form: tuple[Compression, str]) -> None:
    records = [(b"key%d" % number, bytes(number)) for number in range(200)]
    data = write(records, form)
    reader = SequenceFileReader(BytesSource(data))
    blocks = list(reader.blocks())
    assert blocks[0].offset == reader.header.end
    offsets = [block.offset for block in blocks] + [len(data)]
    for number, block in enumerate(blocks):
        assert list(reader.blocks_from(offsets[number], offsets[number + 1])) == [block]


def test_reading_from_a_position_begins_and_ends_at_any_record() -> None:
    sink, positions = io.BytesIO(), []
    with SequenceFileWriter(sink, compression="none", sync_interval=200) as writer:
        for number in range(100):
            positions.append(writer.position)
            writer.append(b"%d" % number, b"")
    reader = SequenceFileReader(BytesSource(sink.getvalue()))
    blocks = list(reader.blocks_from(positions[20], positions[70]))
    assert [key for block in blocks for key in block.keys] == [b"%d" % number for number in range(20, 70)]


def test_a_reader_can_be_read_twice() -> None:
    reader = SequenceFileReader(BytesSource(write([(b"a", b"1")], ("block", "gzip"))))
    assert list(reader) == list(reader) == [(b"a", b"1")]


def test_the_header_tells_what_the_writer_was_told() -> None:
    sink = io.BytesIO()
    metadata = {"round": "7", "é": "ü"}
    with SequenceFileWriter(
        sink, key_class=LONG, value_class=NULL, compression="record", codec="gzip", metadata=metadata
    ) as writer:
        writer.append(pack_long(5), b"")
    header = SequenceFileReader(BytesSource(sink.getvalue())).header
    assert header == writer.header
    assert (header.key_class, header.value_class, header.compression) == (LONG, NULL, "record")
    assert header.codec == "org.apache.hadoop.io.compress.GzipCodec"
    assert header.metadata == metadata
    assert read(sink.getvalue()) == [(pack_long(5), b"")]


def test_two_files_have_different_markers() -> None:
    writers = [SequenceFileWriter(io.BytesIO()) for _ in range(2)]
    assert writers[0].header.sync != writers[1].header.sync


def test_a_block_of_many_empty_records_comes_in_slices() -> None:
    sink = io.BytesIO()
    with SequenceFileWriter(sink, key_class=NULL, value_class=NULL) as writer:
        writer.extend([b""] * 50_000, [b""] * 50_000)
    sizes = [len(block.keys) for block in SequenceFileReader(BytesSource(sink.getvalue())).blocks()]
    assert sum(sizes) == 50_000
    assert max(sizes) < 20_000


def test_hadoops_doubled_marker_is_passed() -> None:
    data = write([(b"a", b"1")], ("none", "default"))
    marker = b"\xff\xff\xff\xff" + SYNC
    assert read(data + marker + marker) == [(b"a", b"1")]


def test_a_codec_we_lack_is_named() -> None:
    header = Header("k", "v", "block", "org.apache.hadoop.io.compress.SnappyCodec", SYNC)
    with pytest.raises(UnsupportedFile, match="SnappyCodec is none of"):
        SequenceFileReader(BytesSource(encode_header(header)))


def test_an_empty_file_has_no_records() -> None:
    assert read(write([], ("block", "default"))) == []


def test_the_sink_stays_open_and_nothing_follows_the_close() -> None:
    sink = io.BytesIO()
    writer = SequenceFileWriter(sink)
    writer.append(b"k", b"v")
    writer.close()
    size = len(sink.getvalue())
    writer.close()
    with pytest.raises(ValueError, match="writer is closed"):
        writer.append(b"k", b"v")
    assert len(sink.getvalue()) == size


def test_a_failed_writer_does_not_pretend_to_have_finished() -> None:
    sink = io.BytesIO()
    with pytest.raises(RuntimeError), SequenceFileWriter(sink) as writer:
        writer.append(b"k", b"v")
        raise RuntimeError
    assert read(sink.getvalue()) == []


def test_misuse_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown codec 'lzo'; take one of default"):
        SequenceFileWriter(io.BytesIO(), codec="lzo")
    with pytest.raises(ValueError, match="marker of 3 bytes"):
        SequenceFileWriter(io.BytesIO(), sync=b"abc")
    with pytest.raises(ValueError, match="blocks of 0 bytes"):
        SequenceFileWriter(io.BytesIO(), block_bytes=0)
    with pytest.raises(ValueError, match="1 keys but 2 values"):
        SequenceFileWriter(io.BytesIO()).extend([b"a"], [b"1", b"2"])


@pytest.mark.parametrize("form", FORMS)
def test_the_largest_record_that_is_written_is_read(form: tuple[Compression, str]) -> None:
    limit = 100_000
    framing = 6 + (5 if form[0] == "block" else 0)  # the key and both prefixes; in a block the lengths too
    value = random.Random(1).randbytes(limit - framing)
    sink = io.BytesIO()
    with open_writer(sink, form, max_block_bytes=limit) as writer:
        writer.append(b"k", value)
    assert list(SequenceFileReader(BytesSource(sink.getvalue()), max_block_bytes=limit)) == [(b"k", value)]
    with pytest.raises(ValueError, match="split its value"):
        open_writer(sink, form, max_block_bytes=limit).append(b"k", value + b"!")
