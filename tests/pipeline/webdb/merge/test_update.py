from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.state.snapshots import Snapshot, commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import host_of, partition_of, webdb_key
from crawlctl.pipeline.webdb.merge.join import MergeCounts
from crawlctl.pipeline.webdb.merge.update import SEED_SCORE, Injected, advance_part, inject
from crawlctl.pipeline.webdb.part import lookup, scan, with_parts
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, Status, WebEntry

if TYPE_CHECKING:
    from pathlib import Path

PARTITIONS = 4
NOW = 1_800_000_000
SEEDS = [f"https://host{number}.example/" for number in range(20)]


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


@pytest.fixture
def empty(store: LocalStore) -> Snapshot:
    return create_crawl(store, PARTITIONS)


@pytest.fixture
def seeded(store: LocalStore, empty: Snapshot) -> Snapshot:
    return commit(store, empty, files=inject(store, empty, SEEDS, NOW).files, round_number=0)


def test_seeds_land_in_the_partition_of_their_host(store: LocalStore, seeded: Snapshot) -> None:
    for number in range(PARTITIONS):
        found = dict(scan(store, seeded, number))
        assert sorted(found) == sorted(
            url for url in SEEDS if partition_of(host_of(url), PARTITIONS) == number
        )
        wanted = WebEntry(Status.UNFETCHED, next_due=NOW, score=SEED_SCORE, depth=0, first_seen=NOW)
        assert all(entry == wanted for entry in found.values())


def test_new_and_known_urls_are_counted_once(store: LocalStore, empty: Snapshot, seeded: Snapshot) -> None:
    first = inject(store, empty, [*SEEDS, *SEEDS], NOW)
    assert (first.new, first.known) == (20, 0)
    more = inject(store, seeded, ["https://host0.example/more", *SEEDS], NOW + 1)
    assert (more.new, more.known) == (1, 20)


def test_seeds_known_already_write_nothing(store: LocalStore, seeded: Snapshot) -> None:
    before = list(store.list("webdb/"))
    assert inject(store, seeded, SEEDS, NOW + 1) == Injected(seeded.files, new=0, known=20)
    assert list(store.list("webdb/")) == before


def test_only_the_partition_of_a_new_seed_is_written_anew(store: LocalStore, seeded: Snapshot) -> None:
    url = "https://host0.example/more"
    own = partition_of("host0.example", PARTITIONS)
    injected = inject(store, seeded, [url], NOW + 1)
    after = commit(store, seeded, files=injected.files, round_number=0)
    for number in range(PARTITIONS):
        same = after.files_of("webdb", number) == seeded.files_of("webdb", number)
        assert same == (number != own)
    assert lookup(store, after, url) is not None
    assert lookup(store, after, "https://host0.example/") == lookup(store, seeded, "https://host0.example/")


def test_a_page_found_by_links_becomes_a_seed(store: LocalStore, seeded: Snapshot) -> None:
    url = "https://host0.example/deep"
    number = partition_of("host0.example", PARTITIONS)
    found = [(webdb_key(url), Fresh(NOW, depth=9, source=SEEDS[0]))]
    part = advance_part(store, seeded, number, found, (), now=NOW, settings=RecrawlSettings(), round_number=1)
    linked = commit(store, seeded, files=with_parts(seeded, part.files), round_number=1)
    injected = inject(store, linked, [url], NOW + 1)
    assert (injected.new, injected.known) == (0, 1)
    after = commit(store, linked, files=injected.files, round_number=1)
    entry = lookup(store, after, url)
    assert entry is not None
    assert (entry.depth, entry.score, entry.first_seen, entry.source) == (0, SEED_SCORE, NOW, "")


def test_a_round_carries_a_part_forward(store: LocalStore, seeded: Snapshot) -> None:
    url, target = "https://host0.example/", "https://host0.example/target"
    number = partition_of("host0.example", PARTITIONS)
    outcomes = [
        (webdb_key(url), Outcome(Kind.MOVED, NOW + 5, code=301, target=target)),
        (webdb_key(target), Outcome(Kind.FETCHED, NOW + 6, code=200, signature=b"v1", depth=1)),
    ]
    part = advance_part(
        store, seeded, number, (), outcomes, now=NOW + 9, settings=RecrawlSettings(), round_number=1
    )
    size = sum(file.records for file in seeded.files_of("webdb", number))
    assert part.counts == MergeCounts(new=1, updated=1, untouched=size - 1)
    newest = part.files[-2].counters
    assert newest["redirected"] == newest["fetched"] == 1
    after = commit(store, seeded, files=with_parts(seeded, part.files), round_number=1)
    moved, fetched = lookup(store, after, url), lookup(store, after, target)
    assert moved is not None and (moved.status, moved.redirect_to) == (Status.REDIRECTED, target)
    assert fetched is not None and (fetched.status, fetched.depth) == (Status.FETCHED, 1)
