from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.segment.stored_links import OutLinks, decode_links, encode_links
from crawlctl.pipeline.urls.hosts import stable_hash

urls = st.sampled_from(["http://a.example/", "http://a.example/b", "https://c.example/?d=%20"])


@settings(deadline=None)
@given(st.lists(st.tuples(urls, st.text(), st.booleans())))
def test_every_link_comes_back_in_order_by_its_hash(links: list[tuple[str, str, bool]]) -> None:
    targets = tuple(stable_hash(url) for url, _, _ in links)
    nofollow = tuple(flag for _, _, flag in links)
    assert decode_links(encode_links(links)) == OutLinks(targets, nofollow)


def test_the_layout_is_as_documented() -> None:
    url = "http://a.example/"
    assert encode_links([(url, "text", True)]) == stable_hash(url).to_bytes(8, "big") + b"\1"


@pytest.mark.parametrize("damaged", [b"\0", bytes(8), bytes(8) + b"\2", bytes(10), bytes(24) + b"\1\7\1"])
def test_damage_is_named_with_its_place(damaged: bytes) -> None:
    with pytest.raises(CorruptFile, match="the-file: damaged at byte 70"):
        decode_links(damaged, "the-file", 70)
