from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.segment.columns import (
    COLUMNS,
    ColumnReader,
    encode_columns,
    pack_language,
    unpack_language,
)
from crawlctl.tests.bytes_source import BytesSource

CODES = {1: "B", 4: "I", 8: "Q"}


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, list[int]], list[tuple[bytes, int]]]:
    documents = draw(st.integers(0, 5))
    columns = {
        name: draw(st.lists(st.integers(0, 256**width - 1), min_size=documents, max_size=documents))
        for name, width in COLUMNS.items()
    }
    hosts = sorted(draw(st.sets(st.sampled_from([b"a.example", b"b.example:81", b"c"]), max_size=documents)))
    return columns, [(host, first) for first, host in enumerate(hosts)]


def encoded(columns: dict[str, list[int]], hosts: list[tuple[bytes, int]]) -> bytes:
    documents = len(columns["flags"])
    packed = {
        name: pack(f"<{documents}{CODES[COLUMNS[name]]}", *numbers) for name, numbers in columns.items()
    }
    return b"".join(encode_columns(packed, hosts, documents))


@given(tables())
def test_what_was_written_is_read(table: tuple[dict[str, list[int]], list[tuple[bytes, int]]]) -> None:
    columns, hosts = table
    documents = len(columns["flags"])
    reader = ColumnReader(BytesSource(encoded(columns, hosts)), documents)
    reader.check()
    for name, numbers in columns.items():
        assert list(reader.column(name)) == numbers
        assert [reader.number(name, ordinal) for ordinal in range(documents)] == numbers
    read = reader.hosts()
    assert list(zip(read.names, read.firsts, strict=True)) == hosts


@given(tables())
def test_files_of_the_first_format_have_no_explicit_pages(
    table: tuple[dict[str, list[int]], list[tuple[bytes, int]]],
) -> None:
    columns, hosts = table
    documents = len(columns["flags"])
    whole = encoded(columns, hosts)
    start = 12 + sum(width * documents + 4 for name, width in COLUMNS.items() if name != "explicit")
    older = b"CRWLCOL1" + whole[8:start] + whole[start + documents + 4 :]
    reader = ColumnReader(BytesSource(older), documents)
    assert list(reader.column("explicit")) == [0] * documents
    assert [reader.number("explicit", ordinal) for ordinal in range(documents)] == [0] * documents
    assert list(reader.column("characters")) == columns["characters"]
    read = reader.hosts()
    assert list(zip(read.names, read.firsts, strict=True)) == hosts
    reader.check()


@given(tables(), st.data())
def test_a_changed_byte_does_not_go_unnoticed(
    table: tuple[dict[str, list[int]], list[tuple[bytes, int]]], data: st.DataObject
) -> None:
    columns, hosts = table
    whole = encoded(columns, hosts)
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:place] + bytes((whole[place] ^ data.draw(st.integers(1, 255)),)) + whole[place + 1 :]
    with pytest.raises(CorruptFile):
        read_all(ColumnReader(BytesSource(damaged), len(columns["flags"])))


@given(tables(), st.data())
def test_a_cut_file_is_damaged(
    table: tuple[dict[str, list[int]], list[tuple[bytes, int]]], data: st.DataObject
) -> None:
    columns, hosts = table
    whole = encoded(columns, hosts)
    with pytest.raises(CorruptFile):
        read_all(
            ColumnReader(
                BytesSource(whole[: data.draw(st.integers(0, len(whole) - 1))]), len(columns["flags"])
            )
        )


def read_all(reader: ColumnReader) -> None:
    reader.check()
    reader.hosts()
    for name in COLUMNS:
        reader.raw(name)


def test_a_column_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="hashes"):
        list(encode_columns(dict.fromkeys(COLUMNS, b""), [], 1))


def test_no_number_is_read_behind_the_last_document() -> None:
    reader = ColumnReader(BytesSource(encoded({name: [7] for name in COLUMNS}, [])), 1)
    with pytest.raises(CorruptFile, match="no document 1 among 1"):
        reader.number("rows", 1)


def test_hosts_know_their_documents() -> None:
    columns = {name: [0] * 5 for name in COLUMNS}
    hosts = ColumnReader(BytesSource(encoded(columns, [(b"a", 0), (b"b", 2)])), 5).hosts()
    assert [hosts.bounds(place, 5) for place in range(2)] == [(0, 2), (2, 5)]


@pytest.mark.parametrize("language", ["", "en", "yue", "zxxx"])
def test_a_language_is_a_number(language: str) -> None:
    assert unpack_language(pack_language(language)) == language
