from __future__ import annotations

from sys import getsizeof

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.http.body import MANY_WRITES, Body, body_cost


@given(st.lists(st.binary(max_size=50), max_size=20))
def test_a_body_is_its_pieces(pieces: list[bytes]) -> None:
    body = Body()
    for piece in pieces:
        body.append(piece)
    assert body.content() == b"".join(pieces)
    assert (body.size, body.writes) == (len(body.content()), len(pieces))


def test_a_body_in_one_piece_is_not_copied() -> None:
    body, page = Body(), bytes(1000)
    body.append(page)
    assert body.content() is page


@given(st.lists(st.integers(2, 300), min_size=1, max_size=1000))
def test_it_takes_no_more_memory_than_is_reckoned(sizes: list[int]) -> None:
    body = Body()
    for size in sizes:
        body.append(bytes(size))
        taken = body._buffer.__alloc__() + sum(map(getsizeof, body._loose)) + 8 * len(body._loose)
        assert taken <= body_cost(body.size) + 16


def test_very_many_very_small_pieces_are_too_many() -> None:
    crumbs, slices = Body(), Body()
    told = []
    for _ in range(MANY_WRITES + 1000):
        told.append(crumbs.is_crumbled)
        crumbs.append(b"x")
        slices.append(bytes(64))
    assert told.index(True) > MANY_WRITES
    assert (crumbs.is_crumbled, slices.is_crumbled) == (True, False)
