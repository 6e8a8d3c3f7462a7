"""Scores that are put into packed entries without unpacking them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.rank.publish.publish import with_score
from crawlctl.pipeline.webdb.records import decode_entry, encode
from crawlctl.tests.pipeline.rank.stored import FETCHED


@given(
    due=st.sampled_from([0, 1, 300, 70_000, 1_800_000_000, 2**32, 2**40]),
    old=st.sampled_from([0.0, 1.0, 0.1]),
    new=st.floats(0, 1e12),
)
def test_only_the_score_changes(due: int, old: float, new: float) -> None:
    entry = replace(FETCHED, next_due=due, score=old, reason="kept")
    assert decode_entry(with_score(encode(entry), new)) == replace(entry, score=new)
