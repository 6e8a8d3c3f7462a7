from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.formats.sequencefile.writables import (
    BYTES,
    LONG,
    NULL,
    TEXT,
    Cells,
    Column,
    PackedStrings,
    is_known,
    pack_long,
    unpack_long,
    writable,
)

UNKNOWN = "org.example.Thing"

sized = st.one_of(st.integers(0, 300), st.sampled_from([65_535, 65_536])).map(lambda size: b"x" * size)
columns = st.one_of(
    st.tuples(st.sampled_from([TEXT, BYTES, UNKNOWN]), st.lists(st.one_of(st.binary(), sized))),
    st.tuples(st.just(LONG), st.lists(st.binary(min_size=8, max_size=8))),
    st.tuples(st.just(NULL), st.lists(st.just(b""))),
)


@pytest.mark.parametrize(
    ("class_name", "payload", "stored"),
    [
        (TEXT, b"", "00"),
        (TEXT, b"ab", "026162"),
        (TEXT, b"a" * 128, "8f80" + "61" * 128),
        (BYTES, b"ab", "000000026162"),
        (LONG, pack_long(-2), "fffffffffffffffe"),
        (NULL, b"", ""),
        (UNKNOWN, b"ab", "6162"),
    ],
)
def test_payloads_are_framed_as_hadoop_frames_them(class_name: str, payload: bytes, stored: str) -> None:
    assert writable(class_name).encode(payload).hex() == stored
    assert writable(class_name).decode(bytes.fromhex(stored)) == payload


@given(columns)
def test_a_column_reads_back(column: tuple[str, list[bytes]]) -> None:
    class_name, payloads = column
    lengths, body = writable(class_name).pack(payloads)
    assert body == b"".join(map(writable(class_name).encode, payloads))
    reader = Column(writable(class_name), lengths, body)
    half = len(payloads) // 2
    assert reader.take(half) + reader.take(len(payloads) - half) == payloads
    reader.finish()
    reader = Column(writable(class_name), lengths, body)
    assert [*reader.take_strings(half), *reader.take_strings(len(payloads) - half)] == payloads
    reader.finish()


def pack_strings(class_name: str, payloads: list[bytes]) -> tuple[bytes, bytes]:
    return PackedStrings(writable(class_name), strings_of(payloads)).sections(0, len(payloads))


@given(columns)
def test_strings_are_packed_as_a_list_is(column: tuple[str, list[bytes]]) -> None:
    class_name, payloads = column
    if payloads:
        assert pack_strings(class_name, payloads) == writable(class_name).pack(payloads)


@given(columns, st.integers(0, 20), st.integers(1, 20))
def test_a_slice_of_packed_strings_is_packed_as_if_alone(
    column: tuple[str, list[bytes]], start: int, count: int
) -> None:
    class_name, payloads = column
    if some := payloads[start : start + count]:
        packed = PackedStrings(writable(class_name), strings_of(payloads))
        assert packed.sections(start, start + len(some)) == writable(class_name).pack(some)


@pytest.mark.parametrize("class_name", [TEXT, BYTES, UNKNOWN])
@pytest.mark.parametrize(
    "sizes", [(0, 127), (120, 123), (123, 124), (128, 255), (255, 256), (65_000, 65_535)]
)
def test_lengths_that_take_as_many_bytes_count_on(class_name: str, sizes: tuple[int, int]) -> None:
    payloads = [b"x" * size for size in (*sizes, sum(sizes) // 2)]
    assert pack_strings(class_name, payloads) == writable(class_name).pack(payloads)


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_long_reads_back(value: int) -> None:
    assert unpack_long(pack_long(value)) == value


@pytest.mark.parametrize(
    ("class_name", "stored"),
    [
        (TEXT, ""),  # not even a length
        (TEXT, "0161ff"),  # says 1, has 2
        (TEXT, "8f01" + "61" * 127),  # 129 bytes are the length of no Text
        (BYTES, "0000"),
        (BYTES, "0000000161ff"),
        (BYTES, "ffffffff"),
        (LONG, "00"),
        (NULL, "00"),
    ],
)
def test_what_breaks_the_form_of_its_class_is_refused(class_name: str, stored: str) -> None:
    data = bytes.fromhex(stored)
    with pytest.raises(ValueError, match=r"Text|Writable"):
        writable(class_name).decode(data)
    with pytest.raises(ValueError, match=r"Text|Writable"):
        writable(class_name).unpack(data, 0, [len(data)])
    with pytest.raises(ValueError, match=r"Text|Writable"):
        writable(class_name).unpack_strings(data, 0, np.array([len(data)]))


@pytest.mark.parametrize(("class_name", "payload"), [(LONG, b"1234567"), (NULL, b"x")])
def test_a_payload_its_class_cannot_hold_is_not_written(class_name: str, payload: bytes) -> None:
    with pytest.raises(ValueError, match="Writable has"):
        writable(class_name).pack([payload])
    with pytest.raises(ValueError, match="Writable has"):
        pack_strings(class_name, [payload])


def test_a_column_that_does_not_fit_its_block_is_refused() -> None:
    with pytest.raises(ValueError, match="past the end"):
        Column(writable(UNKNOWN), b"\x05", b"1234").take(1)
    with pytest.raises(ValueError, match="past the end"):
        Column(writable(UNKNOWN), b"\x05", b"1234").take_strings(1)
    reader = Column(writable(UNKNOWN), b"\x03", b"1234")
    reader.take(1)
    with pytest.raises(ValueError, match="no record"):
        reader.finish()


def test_only_classes_whose_framing_we_handle_are_known() -> None:
    assert [is_known(name) for name in (TEXT, BYTES, LONG, NULL, UNKNOWN)] == [True] * 4 + [False]


@given(columns.filter(lambda column: column[1] != []), st.binary(max_size=3))
def test_the_row_of_a_payload_is_found_although_its_bytes_stand_within_others(
    column: tuple[str, list[bytes]], absent: bytes
) -> None:
    class_name, payloads = column
    kind = writable(class_name)
    cells = Cells(kind, *kind.pack(payloads), len(payloads))
    for payload in payloads:
        row = cells.row_of(payload)
        assert payloads[row] == cells[row] == payload
    if class_name not in (LONG, NULL) and absent not in payloads:
        assert cells.row_of(absent) == -1


@pytest.mark.parametrize("class_name", [TEXT, BYTES, UNKNOWN])
def test_a_payload_that_stands_only_within_others_has_no_row(class_name: str) -> None:
    kind = writable(class_name)
    inner = kind.encode(b"b")
    payloads = [b"a" + inner + b"c", inner + b"d", b"x" + inner]
    cells = Cells(kind, *kind.pack(payloads), len(payloads))
    assert cells.row_of(b"b") == -1
    assert [cells.row_of(payload) for payload in payloads] == [0, 1, 2]


def test_a_payload_that_stands_within_others_very_often_is_found_all_the_same() -> None:
    kind = writable(UNKNOWN)
    payloads = [*[bytes(1000)] * 2000, b"\0"]
    cells = Cells(kind, *kind.pack(payloads), len(payloads))
    assert cells.row_of(b"\0") == 2000
