from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.paged_file import PagedSource, PageWriter
from crawlctl.tests.bytes_source import BytesSource

PAGE = 16  # bytes, so that a few bytes take several pages

pieces = st.lists(st.binary(max_size=60), max_size=8)
places = st.integers(0, 300)


def paged(*pieces: bytes | memoryview) -> bytes:
    sink = BytesIO()
    with PageWriter(sink, PAGE) as pages:
        for piece in pieces:
            pages.write(piece)
    assert pages.bytes == sum(map(len, pieces))
    return sink.getvalue()


def read(data: bytes, start: int = 0, length: int = 1000) -> bytes:
    return PagedSource(BytesSource(data, "numbers"), PAGE).read(start, length)


@given(pieces, places, places)
def test_any_range_reads_back_as_it_was_written(written: list[bytes], start: int, length: int) -> None:
    stored, plain = paged(*written), b"".join(written)
    assert PagedSource(BytesSource(stored), PAGE).size == len(plain)
    assert read(stored, start, length) == plain[start : start + length]


@given(pieces)
def test_the_pages_do_not_tell_in_which_pieces_they_were_written(written: list[bytes]) -> None:
    assert paged(*written) == paged(b"".join(written)) == paged(*(memoryview(piece) for piece in written))


def test_every_flipped_bit_is_found_by_who_reads_its_page_and_by_nobody_else() -> None:
    plain = bytes(range(40))
    stored = paged(plain)
    for place in range(8 * len(stored)):
        at, bit = divmod(place, 8)
        damaged = stored[:at] + bytes([stored[at] ^ 1 << bit]) + stored[at + 1 :]
        page = at // PAGE
        for number in range(0, 40, 12):
            if number // 12 == page:
                with pytest.raises(CorruptFile, match=f"^numbers: damaged at byte {PAGE * page}: a page"):
                    read(damaged, number, 1)
            else:
                assert read(damaged, number, 1) == plain[number : number + 1]


def test_a_page_of_zeros_is_damaged() -> None:
    with pytest.raises(CorruptFile):
        read(bytes(PAGE), 0, 1)


@pytest.mark.parametrize("length", range(1, 40))
def test_a_file_that_is_cut_off_is_damaged_or_ends_with_a_page(length: int) -> None:
    plain = bytes(range(1, 41))
    stored = paged(plain)
    if length % PAGE:
        with pytest.raises(CorruptFile):
            read(stored[:length], max(0, length - 5 - length // PAGE * 4), 40)
    else:
        assert read(stored[:length]) == plain[: length - 4 * (length // PAGE)]


def test_a_file_shorter_than_its_manifest_says_is_damaged() -> None:
    source = BytesSource(paged(bytes(40)), "numbers")
    source.size += 1
    with pytest.raises(CorruptFile, match="should be there"):
        PagedSource(source, PAGE).read(36, 5)
