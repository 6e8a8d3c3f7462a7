from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.jobs.shared.shards import ShardProtocol
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import host_of_key, partition_of, webdb_key
from crawlctl.pipeline.webdb.entries import discover, first_entry, merge_fresh
from crawlctl.pipeline.webdb.merge import shuffle
from crawlctl.pipeline.webdb.merge.shuffle import Numbered, gather, spread
from crawlctl.pipeline.webdb.records import Fresh, WebEntry, encode
from crawlctl.pipeline.webdb.row_files import write_table
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from crawlctl.pipeline.state.manifest import FileEntry

PARTITIONS = 3
NOW = 10  # later than all times the strategies draw

urls = st.builds(lambda host, page: f"https://h{host}.example/{page}", st.integers(0, 5), st.integers(0, 4))
runs = st.lists(st.dictionaries(urls, st.from_type(Fresh), max_size=12), min_size=1, max_size=4)


def but_sums(entry: WebEntry) -> WebEntry:
    """Leave out what adds up within a round: scores, and the weights of anchors (test_anchors.py)."""
    return replace(entry, score=0.0, anchors=(), anchor_weights=())


@given(one=st.from_type(Fresh), other=st.from_type(Fresh))
def test_joined_findings_make_the_entry_that_both_make(one: Fresh, other: Fresh) -> None:
    both = discover(first_entry(one, NOW), other, NOW)
    assert merge_fresh(one, other) == merge_fresh(other, one)
    assert merge_fresh(one, other).score == one.score + other.score
    assert but_sums(first_entry(merge_fresh(one, other), NOW)) == but_sums(both)


@given(known=st.from_type(WebEntry), one=st.from_type(Fresh), other=st.from_type(Fresh))
def test_joined_findings_change_a_known_entry_as_both_do(known: WebEntry, one: Fresh, other: Fresh) -> None:
    both = discover(discover(known, one, NOW), other, NOW)
    assert but_sums(discover(known, merge_fresh(one, other), NOW)) == but_sums(both)


@settings(deadline=None, max_examples=examples(40))
@given(found=runs, mappers=st.integers(1, 3), batch_bytes=st.sampled_from([1, 60, 1 << 20]))
def test_every_partition_gets_its_urls_sorted_and_joined(
    tmp_path_factory: pytest.TempPathFactory,
    found: list[dict[str, Fresh]],
    mappers: int,
    batch_bytes: int,
) -> None:
    store = LocalStore(tmp_path_factory.mktemp("store"))
    files = [Numbered(number, fresh_file(store, run)) for number, run in enumerate(found)]
    sent: dict[int, list[bytes]] = {number: [] for number in range(PARTITIONS)}
    lines = ShardProtocol()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuffle, "BATCH_BYTES", batch_bytes)
        for mapper in range(mappers):
            for message in spread(store, files[mapper::mappers], PARTITIONS):
                home, packed = lines.read(lines.write(*message))
                sent[home].append(packed)
    changes: dict[bytes, Fresh] = {}
    for number, messages in sent.items():
        rows, others = gather(reversed(messages))
        keys = []
        for key, fresh in rows:
            keys.append(key)
            changes[key] = fresh
        assert others == []
        assert keys == sorted(set(keys))
        assert {partition_of(host_of_key(key), PARTITIONS) for key in keys} <= {number}
    assert changes == expected(found)


def expected(found: list[dict[str, Fresh]]) -> dict[bytes, Fresh]:
    joined: dict[bytes, Fresh] = {}
    for run in found:
        for url, fresh in run.items():
            key = webdb_key(url)
            joined[key] = merge_fresh(joined[key], fresh) if key in joined else fresh
    return joined


def fresh_file(store: LocalStore, run: dict[str, Fresh]) -> FileEntry:
    rows = sorted((webdb_key(url), encode(fresh)) for url, fresh in run.items())
    blocks = [([key for key, _ in rows], [value for _, value in rows])]
    return write_table(store, "fresh", blocks, partition=0, round_number=1)


def test_files_of_a_partition_reach_it_in_the_order_of_the_manifest(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    store = LocalStore(tmp_path_factory.mktemp("store"))
    entries = [write_table(store, "hosts", (), partition=2, round_number=1) for _ in range(4)]
    files = [Numbered(number, entry) for number, entry in enumerate(entries)]
    messages = [message for one in (files[2:], files[:2]) for message in spread(store, one, PARTITIONS)]
    assert {home for home, _ in messages} == {2}
    rows, changes = gather(packed for _, packed in messages)
    assert (list(rows), changes) == ([], entries)
