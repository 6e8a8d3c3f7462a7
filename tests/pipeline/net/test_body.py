from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.net.body import MANY_PIECES, Body


@given(st.lists(st.binary(max_size=50), max_size=20))
def test_a_body_is_its_pieces(pieces: list[bytes]) -> None:
    body = Body()
    for piece in pieces:
        body.append(piece)
    assert body.content() == b"".join(pieces)
    assert (body.size, body.pieces) == (len(body.content()), len(pieces))


def test_a_body_in_one_piece_is_not_copied() -> None:
    body, page = Body(), bytes(1000)
    body.append(page)
    assert body.content() is page


@given(st.lists(st.integers(1, 3000), min_size=2, max_size=200))
def test_what_it_costs_is_what_it_takes(sizes: list[int]) -> None:
    body = Body()
    for size in sizes:
        cost = body.cost_of(size)
        body.append(bytes(size))
    assert body._buffer is not None
    assert body._buffer.__alloc__() <= cost + 16


def test_very_many_very_small_pieces_are_too_many() -> None:
    crumbs, slices = Body(), Body()
    told = []
    for _ in range(MANY_PIECES + 1):
        told.append(crumbs.is_crumbled)
        crumbs.append(b"x")
        slices.append(bytes(64))
    assert not any(told)
    assert (crumbs.is_crumbled, slices.is_crumbled) == (True, False)
