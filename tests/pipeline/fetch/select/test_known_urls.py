from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.fetch.select.known_urls import KnownUrls


@given(st.lists(st.lists(st.binary(max_size=12), max_size=30), max_size=5))
def test_what_was_added_is_known(batches: list[list[bytes]]) -> None:
    known = KnownUrls()
    for batch in batches:
        known.add(batch)
    assert all(all(known.contains(batch)) for batch in batches)


def test_hardly_anything_else_is() -> None:
    known = KnownUrls(50_000)
    known.add([b"host http://host/%d" % number for number in range(50_000)])
    others = known.contains([b"host http://host/x%d" % number for number in range(10_000)])
    assert sum(others) < 400


def test_an_empty_set_knows_nothing() -> None:
    assert KnownUrls().contains([]) == []
    assert KnownUrls().contains([b"a", b"b"]) == [False, False]
