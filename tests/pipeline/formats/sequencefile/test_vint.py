from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.vint import (
    MAX_LENGTH,
    Lengths,
    decode_vint,
    encode_vint,
    read_vint,
)
from crawlctl.pipeline.formats.window import Window
from crawlctl.tests.bytes_source import BytesSource

# As WritableUtils.writeVLong of Hadoop 3.5 writes them.
KNOWN = {
    0: "00",
    127: "7f",
    -1: "ff",
    -112: "90",
    128: "8f80",
    255: "8fff",
    256: "8e0100",
    65535: "8effff",
    65536: "8d010000",
    MAX_LENGTH: "8c7fffffff",
    2**63 - 1: "887fffffffffffffff",
    -113: "8770",
    -256: "87ff",
    -257: "860100",
    -(2**63): "807fffffffffffffff",
}


@pytest.mark.parametrize(("value", "encoded"), KNOWN.items())
def test_numbers_are_written_as_hadoop_writes_them(value: int, encoded: str) -> None:
    assert encode_vint(value).hex() == encoded


@given(st.integers(-(2**63), 2**63 - 1), st.binary(max_size=3), st.binary(max_size=3))
def test_a_number_reads_back_wherever_it_stands(value: int, before: bytes, after: bytes) -> None:
    encoded = encode_vint(value)
    assert decode_vint(before + encoded + after, len(before)) == (value, len(before) + len(encoded))


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_number_that_is_cut_off_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="cut off"):
        decode_vint(encode_vint(value)[:-1])


lengths = st.lists(st.one_of(st.integers(0, 127), st.integers(0, 70_000), st.integers(0, MAX_LENGTH)))


@given(lengths, st.data())
def test_lengths_come_back_in_stretches_of_any_size(values: list[int], data: st.DataObject) -> None:
    reader = Lengths(b"".join(map(encode_vint, values)))
    taken: list[int] = []
    while len(taken) < len(values):
        count = data.draw(st.integers(1, len(values) - len(taken)))
        taken += reader.take_array(count).tolist() if data.draw(st.booleans()) else reader.take(count)
    assert taken == values
    reader.finish()


@pytest.mark.parametrize("encoded", ["ff", "90", "8770", "8b0000000001", "8c80000000"])
def test_an_impossible_length_is_refused(encoded: str) -> None:
    with pytest.raises(ValueError, match="length"):
        Lengths(bytes.fromhex(encoded)).take(1)
    with pytest.raises(ValueError, match="length"):
        Lengths(bytes.fromhex(encoded)).take_array(1)


@pytest.mark.parametrize("encoded", ["8f", "8e00", "8d0000", "058c000000"])
def test_a_length_that_is_cut_off_is_refused(encoded: str) -> None:
    data = bytes.fromhex(encoded)
    with pytest.raises(ValueError, match="cut off"):
        Lengths(data).take(2 if data[0] == 5 else 1)


def test_too_few_and_too_many_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="fewer"):
        Lengths(b"\x01\x02").take(3)
    with pytest.raises(ValueError, match="fewer"):
        Lengths(b"\x01\x02").take_array(3)
    reader = Lengths(b"\x01\x02")
    reader.take(1)
    with pytest.raises(ValueError, match="more"):
        reader.finish()


@pytest.mark.parametrize("start", [2, 4])
def test_a_number_cut_off_by_the_end_of_a_file_names_its_offset(start: int) -> None:
    with pytest.raises(CorruptFile, match=f"damaged at byte {start}"):
        read_vint(Window(BytesSource(b"ab\x8e\x01"), 0), start)
