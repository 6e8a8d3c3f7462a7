from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.fetch.select.selection import Due, Selection
from crawlctl.pipeline.formats.sequencefile.block_body import Block
from crawlctl.pipeline.urls.hosts import url_of_key, webdb_key
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode

NOW = 1_800_000_000

Row = tuple[str, WebEntry]


def entry(due: int = NOW, score: float = 1.0, depth: int = 0) -> WebEntry:
    return WebEntry(Status.UNFETCHED, next_due=due, score=score, depth=depth, first_seen=due)


def blocks(rows: list[Row], size: int = 3) -> list[Block]:
    packed = sorted((webdb_key(url), encode(value)) for url, value in rows)
    return [
        Block(offset=start, keys=[k for k, _ in part], values=[v for _, v in part])
        for start in range(0, len(packed), size)
        if (part := packed[start : start + size])
    ]


def select(rows: list[Row], limit: int = 100, size: int = 3, **options: Any) -> list[str]:
    selection = Selection(NOW, limit, **options)
    for block in blocks(rows, size):
        selection.add(block)
    return [url_of_key(due.key) for due in selection.finish()]


def test_only_what_is_due_is_selected() -> None:
    rows = [("http://a/1", entry(NOW)), ("http://a/2", entry(NOW + 1)), ("http://a/3", entry(0))]
    assert set(select(rows)) == {"http://a/1", "http://a/3"}


def test_score_comes_before_depth_and_depth_before_age() -> None:
    rows = [
        ("http://a/old", entry(NOW - 9, 0.5, 2)),
        ("http://a/older", entry(NOW - 99, 0.5, 2)),
        ("http://a/near", entry(NOW, 0.5, 1)),
        ("http://a/best", entry(NOW, 0.9, 9)),
    ]
    assert select(rows) == ["http://a/best", "http://a/near", "http://a/older", "http://a/old"]


def test_what_is_equal_otherwise_is_taken_in_the_order_of_keys_whatever_the_blocks() -> None:
    rows = [(f"http://a/{number}", entry()) for number in range(9)]
    assert select(rows, 2, size=1) == select(rows, 2, size=9) == ["http://a/8", "http://a/7"]


def test_a_host_gives_its_share_less_what_it_has_had() -> None:
    rows = [(f"http://{host}/{number}", entry(score=number)) for host in "abc" for number in range(5)]
    urls = select(rows, per_host=2, shares={b"b": 1, b"c": 7})
    assert set(urls) == {"http://a/4", "http://a/3", "http://b/4"}


def test_long_urls_take_the_room_of_many_but_the_best_always_fit() -> None:
    def url(host: str, number: int) -> str:
        return f"http://{host}/{number}/{'x' * 1000}"

    rows = [(url(host, number), entry(score=float(number))) for host in "ab" for number in range(9)]
    best = [url(host, number) for number in (8, 7, 6) for host in "ba"]
    assert select(rows, memory=5 * 1400, per_host=9) == best[:5]
    assert select(rows, memory=5 * 1400, per_host=2) == best[:4]
    assert select(rows, memory=1) == best[:1]


def test_what_is_done_is_passed_over() -> None:
    rows = [("http://a/1", entry()), ("http://a/2", entry())]
    assert select(rows, done={webdb_key("http://a/1")}) == ["http://a/2"]


def test_a_round_without_budget_selects_nothing() -> None:
    assert select([("http://a/1", entry())], 0) == []


def test_what_is_no_entry_is_reported_with_its_place() -> None:
    with pytest.raises(CorruptFile, match="byte 7"):
        Selection(NOW, 1).add(Block(offset=7, keys=[b"a http://a/"], values=[b"\x01"]))


ENTRIES = st.builds(
    entry,
    due=st.sampled_from([0, 200, 70_000, NOW - 5, NOW, NOW + 1, NOW + 90_000, 1 << 33]),
    score=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    depth=st.integers(0, 3),
)
ROWS = st.dictionaries(st.tuples(st.sampled_from("abc"), st.integers(0, 30)), ENTRIES, max_size=40).map(
    lambda rows: [(f"http://{host}/{number}", value) for (host, number), value in rows.items()]
)


@given(rows=ROWS, limit=st.integers(0, 12), share=st.none() | st.integers(1, 5), size=st.integers(1, 9))
def test_the_selection_is_that_of_sorting_everything(
    rows: list[Row], limit: int, share: int | None, size: int
) -> None:
    ranked = sorted(
        (
            Due(value.score, -value.depth, -value.next_due, webdb_key(url), encode(value))
            for url, value in rows
            if value.next_due <= NOW
        ),
        reverse=True,
    )
    taken: dict[bytes, int] = {}
    expected = []
    for due in ranked:
        host = due.key.partition(b" ")[0]
        taken[host] = taken.get(host, 0) + 1
        if share is None or taken[host] <= share:
            expected.append(url_of_key(due.key))
    assert select(rows, limit, size, per_host=share) == expected[:limit]
