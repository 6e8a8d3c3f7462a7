from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader, MapFileWriter
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import BYTES, LONG, TEXT, pack_long
from crawlctl.tests.bytes_source import BytesSource

values = st.lists(st.binary(max_size=60), max_size=30)


def written(held: list[bytes], block_bytes: int = 100, **options: Any) -> bytes:
    sink = io.BytesIO()
    with SequenceFileWriter(sink, key_class=LONG, block_bytes=block_bytes, **options) as writer:
        writer.extend([pack_long(number) for number in range(len(held))], held)
    return sink.getvalue()


def reader(data: bytes) -> SequenceFileReader:
    return SequenceFileReader(BytesSource(data, "the-file"))


@settings(deadline=None)
@given(values, values, st.sampled_from([1, 100, 1 << 20]))
def test_copied_and_packed_records_come_back_in_order(
    copied: list[bytes], packed: list[bytes], block_bytes: int
) -> None:
    data, index = io.BytesIO(), io.BytesIO()
    with MapFileWriter(data, index, key_class=LONG, block_bytes=block_bytes) as writer:
        for block in reader(written(copied)).stored_blocks():
            first = writer.records
            writer.copy([pack_long(number) for number in range(first, first + len(block.keys))], block)
            for value in packed[::2]:
                writer.append(pack_long(writer.records), value)
            first = writer.records
            keys = [pack_long(number) for number in range(first, first + len(packed[1::2]))]
            writer.extend_strings(strings_of(keys), strings_of(packed[1::2]))
    blocks = [block.values() for block in reader(written(copied)).stored_blocks()]
    expected = [value for block in blocks for value in (*block, *packed[::2], *packed[1::2])]
    assert [value for block in blocks for value in block] == copied
    found = MapFileReader(BytesSource(data.getvalue()), BytesSource(index.getvalue()))
    assert list(found) == [(pack_long(number), value) for number, value in enumerate(expected)]
    for number, value in enumerate(expected):
        assert found.get(pack_long(number)) == value


def test_the_values_of_a_copied_block_are_the_same_bytes() -> None:
    source = written([b"one" * 40, b"two" * 40], 1 << 20)
    (block,) = reader(source).stored_blocks()
    sink = io.BytesIO()
    with SequenceFileWriter(sink, key_class=LONG) as writer:
        writer.copy([pack_long(7), pack_long(8)], block)
    assert block.value_streams[1] in source
    assert block.value_streams[1] in sink.getvalue()
    assert [key for key, _ in reader(sink.getvalue())] == [pack_long(7), pack_long(8)]


@pytest.mark.parametrize(
    "options", [{"codec": "gzip"}, {"value_class": TEXT}, {"compression": "none"}, {"key_class": BYTES}]
)
def test_a_block_that_would_not_fit_is_refused(options: dict[str, Any]) -> None:
    (block,) = reader(written([b"one"])).stored_blocks()
    with SequenceFileWriter(io.BytesIO(), **{"key_class": LONG, **options}) as writer:
        if "key_class" in options:
            with pytest.raises(ValueError, match="as many keys"):
                writer.copy([], block)
        else:
            with pytest.raises(ValueError, match="another codec"):
                writer.copy(block.keys, block)


def test_keys_out_of_order_are_refused() -> None:
    first, second = reader(written([b"one" * 40, b"two" * 40])).stored_blocks()
    writer = MapFileWriter(io.BytesIO(), io.BytesIO(), key_class=LONG)
    writer.copy([pack_long(3)], first)
    with pytest.raises(ValueError, match="sort the keys"):
        writer.copy([pack_long(3)], second)


@settings(deadline=None)
@given(values.filter(len), st.integers(0, 400), st.binary(min_size=1, max_size=4))
def test_damage_is_a_corrupt_file(held: list[bytes], place: int, noise: bytes) -> None:
    data = written(held)
    start = reader(data).header.end
    at = start + place % (len(data) - start)
    for hurt in (data[:at] + noise + data[at + len(noise) :], data[:at]):
        try:
            numbers = [
                len(block.keys) for block in reader(hurt).stored_blocks() if block.values() is not None
            ]
        except CorruptFile as error:
            assert str(error).startswith("the-file: ")
        else:
            assert sum(numbers) <= len(held)
