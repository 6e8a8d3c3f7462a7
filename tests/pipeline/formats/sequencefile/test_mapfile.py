from __future__ import annotations

import io
from base64 import b64encode
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.mapfile import DATA_HEADER, MapFileReader, MapFileWriter
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import LONG, TEXT, pack_long, unpack_long
from crawlctl.tests.bytes_source import BytesSource

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.formats.sequencefile.header import Compression

COMPRESSIONS: list[Compression] = ["none", "record", "block"]
compressions = st.sampled_from(COMPRESSIONS)
tables = st.dictionaries(st.binary(max_size=12), st.binary(max_size=40), max_size=60)


class CountingSource(BytesSource):
    """Remembers the ranges it was asked for."""

    def __init__(self, data: bytes, name: str = "data") -> None:
        super().__init__(data, name)
        self.asked: list[tuple[int, int]] = []

    def read(self, start: int, length: int) -> bytes:
        self.asked.append((start, length))
        return super().read(start, length)


def write(
    records: Iterable[tuple[bytes, bytes]], compression: Compression = "block", block_bytes: int = 100
) -> tuple[bytes, bytes]:
    data, index = io.BytesIO(), io.BytesIO()
    with MapFileWriter(data, index, compression=compression, block_bytes=block_bytes) as writer:
        for key, value in records:
            writer.append(key, value)
    return data.getvalue(), index.getvalue()


def open_map(files: tuple[bytes, bytes]) -> MapFileReader:
    return MapFileReader(BytesSource(files[0], "data"), BytesSource(files[1], "index"))


def blocks_of(data: bytes) -> list[Block]:
    return list(SequenceFileReader(BytesSource(data)).blocks())


def numbered(count: int) -> list[tuple[bytes, bytes]]:
    return [(b"%05d" % number, b"value %d" % number) for number in range(0, 2 * count, 2)]


@given(tables, compressions, st.lists(st.binary(max_size=12)))
def test_get_is_that_of_a_dict(
    table: dict[bytes, bytes], compression: Compression, others: list[bytes]
) -> None:
    reader = open_map(write(sorted(table.items()), compression))
    for key in [*table, *others]:
        assert reader.get(key) == table.get(key)


@given(tables, compressions, st.lists(st.binary(max_size=12)))
def test_many_keys_are_looked_up_as_one_is(
    table: dict[bytes, bytes], compression: Compression, others: list[bytes]
) -> None:
    reader = open_map(write(sorted(table.items()), compression))
    assert reader.get_all(sorted({*table, *others})) == table
    some = sorted({*list(table)[::3], *others})
    assert reader.get_all(some) == {key: table[key] for key in some if key in table}
    assert open_map(write(sorted(table.items()), compression)).get_near(some) == list(map(table.get, some))


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_keys_that_begin_alike_are_looked_up_together(compression: Compression) -> None:
    stems = [b"%s\x01%s" % (stem, mark) for stem in (b"curl", b"curling", b"url") for mark in (b"de", b"en")]
    records = sorted([*numbered(500), *((stem, stem.upper()) for stem in stems)])
    reader = open_map(write(records, compression, block_bytes=700))
    asked = sorted([b"curl", b"curl\x01fr", b"curl\x01en", b"curl\x02en", b"curling\x01de", b"urls"])
    expected = [dict(records).get(key) for key in asked]
    assert reader.get_near(asked) == reader.get_near(asked) == expected
    assert sum(value is not None for value in expected) == 2
    every = [key for key, _ in records]
    assert reader.get_near(every) == [value for _, value in records]


@given(tables, compressions, st.none() | st.binary(max_size=12), st.none() | st.binary(max_size=12))
def test_range_is_a_slice_of_the_sorted_items(
    table: dict[bytes, bytes], compression: Compression, start: bytes | None, stop: bytes | None
) -> None:
    expected = [
        (key, value)
        for key, value in sorted(table.items())
        if (start is None or key >= start) and (stop is None or key < stop)
    ]
    reader = open_map(write(sorted(table.items()), compression))
    assert list(reader.range(start, stop)) == expected
    assert [
        item for columns in reader.strings(start, stop) for item in zip(*columns, strict=True)
    ] == expected


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_every_key_and_every_gap_of_a_larger_map(compression: Compression) -> None:
    records = numbered(1000)
    reader = open_map(write(records, compression, block_bytes=2000))
    for key, value in reversed(records):
        assert reader.get(key) == value
        assert reader.get(key + b"!") is None
    assert reader.get(b"") is None
    assert reader.get_all(sorted(one for key, _ in records for one in (key, key + b"!"))) == dict(records)
    assert list(reader.range(b"00999", b"01500")) == records[500:750]
    assert list(reader) == [
        item for block in reader.blocks() for item in zip(block.keys, block.values, strict=True)
    ]


@pytest.mark.parametrize("compression", ["none", "record"])
def test_without_blocks_every_128th_record_is_indexed(compression: Compression) -> None:
    records = numbered(300)
    data, index = write(records, compression)
    entries = list(SequenceFileReader(BytesSource(index)))
    assert [key for key, _ in entries] == [records[number][0] for number in (0, 128, 256)]
    for key, position in entries:
        blocks = SequenceFileReader(BytesSource(data)).blocks_from(unpack_long(position), len(data))
        assert next(blocks).keys[0] == key


def test_with_blocks_the_first_key_of_each_is_indexed() -> None:
    data, index = write(numbered(300), block_bytes=1000)
    blocks = blocks_of(data)
    assert len(blocks) > 3
    expected = [(block.keys[0], pack_long(block.offset)) for block in blocks]
    assert list(SequenceFileReader(BytesSource(index))) == expected


def test_the_index_is_the_one_hadoop_reads() -> None:
    header = SequenceFileReader(BytesSource(write(numbered(3))[1])).header
    assert (header.key_class, header.value_class, header.compression) == (TEXT, LONG, "block")
    assert header.codec == "org.apache.hadoop.io.compress.DefaultCodec"


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_extend_writes_what_append_writes(compression: Compression) -> None:
    records = numbered(700)
    data, index = io.BytesIO(), io.BytesIO()
    with MapFileWriter(data, index, compression=compression, block_bytes=1000) as writer:
        for start, stop in [(0, 1), (1, 200), (200, 200), (200, 700)]:
            batch = records[start:stop]
            writer.extend([key for key, _ in batch], [value for _, value in batch])
        assert writer.records == 700
    appended = write(records, compression, block_bytes=1000)
    for mine, other in zip((data.getvalue(), index.getvalue()), appended, strict=True):
        assert blocks_of(mine) == blocks_of(other)


@given(
    st.dictionaries(st.binary(max_size=30), st.integers(0, 300).map(bytes), max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=5),
    compressions,
    st.integers(1, 700),
)
def test_strings_are_written_as_lists_are(
    table: dict[bytes, bytes], cuts: list[tuple[int, bool]], compression: Compression, block_bytes: int
) -> None:
    records = sorted(table.items())
    data, index = io.BytesIO(), io.BytesIO()
    with MapFileWriter(data, index, compression=compression, block_bytes=block_bytes) as writer:
        start = 0
        for stop, as_strings in [*sorted(cuts), (60, True)]:
            keys, values = ([row[place] for row in records[start:stop]] for place in (0, 1))
            if as_strings:
                writer.extend_strings(strings_of(keys), strings_of(values))
            else:
                writer.extend(keys, values)
            start = max(start, stop)
        assert writer.records == len(records)
    mine = data.getvalue(), index.getvalue()
    for one, other in zip(mine, write(records, compression, block_bytes), strict=True):
        assert blocks_of(one) == blocks_of(other)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("wrong", [[b"a"], [b"b"], [b"c", b"c"], [b"d", b"c"], [b"c", b"dd", b"d"]])
def test_strings_out_of_order_are_not_written(compression: Compression, wrong: list[bytes]) -> None:
    writer = MapFileWriter(io.BytesIO(), io.BytesIO(), compression=compression)
    writer.append(b"b", b"")
    with pytest.raises(ValueError, match="sort"):
        writer.extend_strings(strings_of(wrong), strings_of([b""] * len(wrong)))


def test_strings_need_as_many_keys_as_values_and_an_open_writer() -> None:
    writer = MapFileWriter(io.BytesIO(), io.BytesIO())
    with pytest.raises(ValueError, match="as many keys"):
        writer.extend_strings(strings_of([b"a", b"b"]), strings_of([b""]))
    writer.close()
    with pytest.raises(ValueError, match="closed"):
        writer.extend_strings(strings_of([b"a"]), strings_of([b""]))


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_get_costs_one_ranged_read_once_the_index_is_known(compression: Compression) -> None:
    records = numbered(2000)
    data, index = write(records, compression, block_bytes=2000)
    source, index_source = CountingSource(data), CountingSource(index)
    reader = MapFileReader(source, index_source)
    assert reader.get(records[1000][0]) == records[1000][1]
    assert len(index_source.asked) == 1
    assert len(source.asked) == 1
    source.asked.clear()
    for number in (1999, 0, 700, 400):
        assert reader.get(records[number][0]) == records[number][1]
    assert len(source.asked) == 4
    assert max(length for _, length in source.asked) < len(data) / 4
    assert len(index_source.asked) == 1


def test_an_index_without_the_header_of_the_data_costs_one_read_more() -> None:
    records = numbered(100)
    data, index = write(records)
    older = io.BytesIO()
    with SequenceFileWriter(older, value_class=LONG) as writer:
        for key, value in SequenceFileReader(BytesSource(index)):
            writer.append(key, value)
    source = CountingSource(data)
    reader = MapFileReader(source, BytesSource(older.getvalue()))
    assert [reader.get(key) for key, _ in records] == [value for _, value in records]
    assert len(source.asked) == 1 + len(blocks_of(data))
    assert source.asked[0][0] == 0


@pytest.mark.parametrize("held", ["", "!", "AAAA", b64encode(b"SEQ").decode()])
def test_a_header_of_the_data_that_is_none_is_damage_of_the_index(held: str) -> None:
    data, index = write(numbered(9))
    damaged = io.BytesIO()
    with SequenceFileWriter(damaged, value_class=LONG, metadata={DATA_HEADER: held}) as writer:
        for key, value in SequenceFileReader(BytesSource(index)):
            writer.append(key, value)
    with pytest.raises(CorruptFile, match="index: damaged"):
        MapFileReader(BytesSource(data), BytesSource(damaged.getvalue(), "index")).get(b"1")


def test_a_neighbour_of_the_last_key_costs_no_read() -> None:
    records = numbered(100)
    data, index = write(records, block_bytes=10_000)
    source = CountingSource(data)
    reader = MapFileReader(source, BytesSource(index))
    reader.get(records[0][0])
    source.asked.clear()
    assert [reader.get(key) for key, _ in records] == [value for _, value in records]
    assert source.asked == []


def test_a_block_is_read_once_for_all_keys_that_are_looked_up_in_it() -> None:
    records = numbered(3000)
    data, index = write(records, block_bytes=2000)
    source = CountingSource(data)
    reader = MapFileReader(source, BytesSource(index))
    assert reader.get_all([key for key, _ in records[::7]]) == dict(records[::7])
    assert len(source.asked) == len(blocks_of(data))


def test_a_short_range_reads_only_its_part() -> None:
    records = numbered(20_000)
    data, index = write(records, block_bytes=2000)
    source = CountingSource(data)
    reader = MapFileReader(source, BytesSource(index))
    assert list(reader.range(b"20000", b"20100")) == records[10_000:10_050]
    assert len(source.asked) == 2
    assert source.asked[1][1] < 2000


def hadoop_style(records: list[tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
    """Return a map whose index names keys amid their blocks, as Hadoop's writer leaves it."""
    data, index = io.BytesIO(), io.BytesIO()
    with (
        SequenceFileWriter(data, block_bytes=500) as writer,
        SequenceFileWriter(index, value_class=LONG) as index_writer,
    ):
        last = -1
        for number, (key, value) in enumerate(records):
            if (number == 0 or number % 128 == 0) and writer.position > last:
                last = writer.position
                index_writer.append(key, pack_long(last))
            writer.append(key, value)
    return data.getvalue(), index.getvalue()


def test_an_index_of_keys_amid_their_blocks_is_understood() -> None:
    records = numbered(1000)
    reader = open_map(hadoop_style(records))
    for key, value in records[::-1]:
        assert reader.get(key) == value
        assert reader.get(key + b"!") is None
    assert reader.get_all([key for key, _ in records[::3]]) == dict(records[::3])
    for start in range(0, 1000, 37):
        stop = start + 61
        found = list(reader.range(records[start][0], records[min(stop, 999)][0]))
        assert found == records[start : min(stop, 999)]


def test_keys_hadoop_wrote_twice_are_all_in_the_range() -> None:
    data, index = io.BytesIO(), io.BytesIO()
    with (
        SequenceFileWriter(data, block_bytes=1) as writer,
        SequenceFileWriter(index, value_class=LONG) as entries,
    ):
        for key in (b"a", b"b", b"b", b"b", b"c"):
            entries.append(key, pack_long(writer.position))
            writer.append(key, b"1")
    reader = open_map((data.getvalue(), index.getvalue()))
    assert [key for key, _ in reader.range(b"b", b"c")] == [b"b"] * 3
    assert reader.get(b"b") == b"1"


@pytest.mark.parametrize("keys", [(b"b", b"a"), (b"a", b"a")])
def test_keys_out_of_order_are_refused(keys: tuple[bytes, bytes]) -> None:
    with pytest.raises(ValueError, match="sort the keys and drop duplicates"):
        write([(key, b"") for key in keys])
    with pytest.raises(ValueError, match="sort them and drop duplicates"):
        MapFileWriter(io.BytesIO(), io.BytesIO()).extend(keys, (b"", b""))


def test_long_keys_work_and_negative_ones_are_refused() -> None:
    data, index = io.BytesIO(), io.BytesIO()
    with MapFileWriter(data, index, key_class=LONG) as writer:
        writer.extend(
            [pack_long(number) for number in range(1000)], [b"%d" % number for number in range(1000)]
        )
        with pytest.raises(ValueError, match="negative LongWritable"):
            writer.append(pack_long(-1), b"")
    reader = open_map((data.getvalue(), index.getvalue()))
    assert reader.get(pack_long(567)) == b"567"
    assert reader.header.key_class == LONG


def test_a_failed_map_is_not_finished() -> None:
    data, index = io.BytesIO(), io.BytesIO()
    with pytest.raises(RuntimeError), MapFileWriter(data, index) as writer:
        writer.append(b"k", b"v")
        raise RuntimeError
    assert list(SequenceFileReader(BytesSource(data.getvalue()))) == []


def test_an_empty_map_has_nothing() -> None:
    reader = open_map(write([]))
    assert reader.get(b"a") is None
    assert list(reader.range()) == []


def index_of(entries: list[tuple[bytes, int]], value_class: str = LONG, key_class: str = TEXT) -> bytes:
    sink = io.BytesIO()
    with SequenceFileWriter(sink, key_class=key_class, value_class=value_class) as writer:
        for key, position in entries:
            writer.append(key, pack_long(position))
    return sink.getvalue()


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([], "does not fit the data"),
        ([(b"00000", 0)], "does not fit the data"),
        ([(b"00000", -5)], "does not fit the data"),
        ([(b"00000", 103), (b"00001", 103)], "does not fit the data"),
        ([(b"00002", 103), (b"00001", 104)], "does not fit the data"),
        ([(b"00000", 103), (b"00001", 1 << 40)], "does not fit the data"),
    ],
)
def test_an_index_of_other_data_is_refused(entries: list[tuple[bytes, int]], reason: str) -> None:
    data, _ = write(numbered(50), "none")
    end = SequenceFileReader(BytesSource(data)).header.end
    moved = [(key, end if position == 103 else position) for key, position in entries]
    with pytest.raises(CorruptFile, match=f"^index: damaged at byte 0: {reason}"):
        open_map((data, index_of(moved))).get(b"00000")


def test_a_file_that_is_no_index_is_refused() -> None:
    data, _ = write(numbered(5))
    with pytest.raises(CorruptFile, match="not an index of"):
        open_map((data, data)).get(b"00000")
    with pytest.raises(CorruptFile, match="not an index of"):
        open_map((data, index_of([], key_class=LONG))).get(b"00000")


def test_an_index_beyond_its_bound_is_refused() -> None:
    data, index = write(numbered(1000), block_bytes=100)
    reader = MapFileReader(BytesSource(data), BytesSource(index, "index"), max_index_bytes=1000)
    with pytest.raises(CorruptFile, match="an index above 1000 bytes"):
        reader.get(b"00000")


def test_a_position_inside_a_block_is_damage() -> None:
    data, _ = write(numbered(50))
    end = SequenceFileReader(BytesSource(data)).header.end
    reader = open_map((data, index_of([(b"00000", end), (b"00010", end + 7)])))
    with pytest.raises(CorruptFile, match=f"^data: damaged at byte {end + 7}: no sync marker"):
        reader.get(b"00020")
