"""The sample of a host depends on its pages alone; what half of the pages have is repeated."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.webdb.repeated.block_sample import (
    FEWEST_PAGES,
    NO_BOUND,
    SAMPLED_PAGES,
    BlockSample,
    decode_sample,
    encode_sample,
    mark_of,
    sample_of,
)

A, B, C = (letter * 8 for letter in (b"a", b"b", b"c"))
PAGES = st.dictionaries(st.integers(0, 200), st.sets(st.sampled_from((A, B, C))).map(b"".join), max_size=90)


def sample(*pages: bytes) -> BlockSample:
    return sample_of(enumerate(pages))


def test_a_block_is_repeated_if_half_of_the_pages_and_enough_of_them_have_it() -> None:
    few, enough = FEWEST_PAGES - 1, FEWEST_PAGES
    assert sample(*[A] * few).repeated() == b""
    assert sample(*[A] * enough).repeated() == A
    assert sample(*[A + B] * enough, *[B] * enough).repeated() == A + B
    assert sample(*[A + B] * enough, *[B] * enough, B).repeated() == B


def test_a_page_that_is_read_again_has_its_new_blocks_only() -> None:
    before = sample(*[A] * FEWEST_PAGES)
    assert before.updated(sample_of([(0, B)])).pages[0] == (0, B)
    assert before.updated(sample_of([(0, B)])).repeated() == b""


def test_the_bound_keeps_out_what_would_not_be_sampled() -> None:
    full = sample_of((2 * mark, A) for mark in range(SAMPLED_PAGES))
    assert full.bound == 2 * SAMPLED_PAGES - 2
    assert full.updated(sample_of([(full.bound + 1, A)])) == full
    assert full.updated(sample_of([(full.bound - 1, A)])) != full
    assert sample(A).bound == NO_BOUND > mark_of(b"a.org https://a.org/")


@given(PAGES, st.randoms(use_true_random=False), st.integers(1, 5))
def test_any_order_and_any_split_of_the_pages_give_the_same_sample(
    pages: dict[int, bytes], chance: object, runs: int
) -> None:
    rows = list(pages.items())
    chance.shuffle(rows)  # type: ignore[attr-defined]
    parts = [sample_of(rows[number::runs]) for number in range(runs)]
    together = sample_of(page for part in parts for page in part.pages)
    assert together == sample_of(pages.items())
    by_round = BlockSample()
    for part in parts:
        by_round = by_round.updated(part)
    assert by_round == together
    assert by_round.updated(parts[0]) == by_round


@given(PAGES)
def test_a_sample_reads_as_it_was_written(pages: dict[int, bytes]) -> None:
    written = sample_of(pages.items())
    assert decode_sample(encode_sample(written)) == written


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\xc1",
        b"\x80",
        msgspec.msgpack.encode([[[2, A], [1, A]]]),
        msgspec.msgpack.encode([[[1, A], [1, A]]]),
        msgspec.msgpack.encode([[[1, A[:-1]]]]),
    ],
)
def test_a_damaged_sample_is_an_error_with_the_name_of_its_file(value: bytes) -> None:
    with pytest.raises(CorruptFile, match="blocks/00000/x"):
        decode_sample(value, "blocks/00000/x")
