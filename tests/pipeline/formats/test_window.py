from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.window import Window
from crawlctl.tests.bytes_source import BytesSource


class CountingSource(BytesSource):
    """Remembers the ranges it was asked for."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.asked: list[tuple[int, int]] = []

    def read(self, start: int, length: int) -> bytes:
        self.asked.append((start, length))
        return super().read(start, length)


@given(st.binary(min_size=1, max_size=400), st.integers(1, 50), st.data())
def test_any_range_is_served(data: bytes, read_ahead: int, draw: st.DataObject) -> None:
    window = Window(BytesSource(data), draw.draw(st.integers(0, len(data))), read_ahead)
    for _ in range(5):
        start = draw.draw(st.integers(0, len(data)))
        length = draw.draw(st.integers(0, len(data) - start))
        assert window.take(start, length) == data[start : start + length]


def test_walking_reads_no_byte_twice() -> None:
    source = CountingSource(bytes(1_000_000))
    window = Window(source, source.size, read_ahead=100_000)
    for start in range(0, source.size - 700, 700):
        window.take(start, 700)
    assert sum(length for _, length in source.asked) <= source.size
    assert len(source.asked) <= 11


def test_the_horizon_is_read_up_to_and_little_behind_it() -> None:
    source = CountingSource(bytes(10 << 20))
    window = Window(source, horizon=1000)
    window.take(900, 50)
    window.take(1000, 50)
    assert source.asked == [(900, 100), (1000, 64 << 10)]


def test_bytes_behind_the_end_are_missed_without_reading() -> None:
    source = CountingSource(bytes(10))
    with pytest.raises(CorruptFile, match="damaged at byte 8: 3 bytes are missing"):
        Window(source, 10).take(8, 3)
    assert source.asked == []


def test_a_source_shorter_than_it_says_is_damaged() -> None:
    source = BytesSource(b"abc")
    source.size = 100
    with pytest.raises(CorruptFile, match="shorter than the 100 bytes"):
        Window(source, 100).take(0, 50)
