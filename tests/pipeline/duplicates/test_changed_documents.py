"""Groupings that go on from the last one, after random changes of an index."""

from __future__ import annotations

import random
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.duplicates.grouping_due import are_grouped, can_continue
from crawlctl.pipeline.state.kinds import COMPARED, GROUPS
from crawlctl.pipeline.text.likeness.fingerprint import similarity, sketch_keys
from crawlctl.pipeline.text.likeness.similar import Leaders
from crawlctl.pipeline.urls.hosts import stable_hash
from crawlctl.tests.pipeline.duplicates.made_up_index import LEAST, NO_WORDS, MadeUpIndex, group, sketch_of
from crawlctl.tests.pipeline.search.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.tests.pipeline.duplicates.made_up_index import Text

PARTITIONS = 3
URLS = [f"https://host{number % 7}.example/{'x' * (number % 5)}{number}" for number in range(40)]
NO_FILES: tuple[FileEntry, ...] = ()
HASHES = {url: stable_hash(url) for url in URLS}


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def change(index: MadeUpIndex, chance: random.Random) -> None:
    """Fetch some pages, some with the text they had, delete some, and merge some segments."""
    fetched = chance.sample(URLS, chance.randint(0, 12))
    texts = [(chance.randrange(3), chance.randrange(25)) for _ in fetched]
    pages = {
        url: index.pages.get(url, text) if chance.random() < 0.2 else text
        for url, text in zip(fetched, texts, strict=True)
    }
    pages |= dict.fromkeys(fetched[:1], NO_WORDS) if chance.random() < 0.2 else {}
    index.fetch(pages)
    for url in chance.sample(URLS, chance.randint(0, 3)):
        index.delete(url)
    for partition in range(PARTITIONS):
        if chance.random() < 0.4:
            index.merge(partition, chance)


def check_stars(pages: Mapping[str, Text], groups: Mapping[str, int]) -> None:
    """Check that each page of a group is similar to its leader, which is there and leads itself."""
    urls = {HASHES[url]: url for url in pages}
    assert groups.keys() <= pages.keys()
    for url, found in groups.items():
        leader = urls[found]
        assert groups[leader] == found
        assert similarity(sketch_of(pages[leader]), sketch_of(pages[url])) >= LEAST


def leaders_of(pages: Mapping[str, Text], groups: Mapping[str, int]) -> set[str]:
    """Return the pages that lead a group, if only themselves."""
    return {url for url in pages if groups.get(url, HASHES[url]) == HASHES[url] and pages[url] != NO_WORDS}


def check_apart(pages: Mapping[str, Text], leaders: set[str]) -> None:
    """Check that no two leaders that share a key are near duplicates."""
    sketches = {url: sketch_of(pages[url]) for url in leaders}
    for one, other in combinations(leaders, 2):
        keys = zip(sketch_keys(sketches[one]), sketch_keys(sketches[other]), strict=True)
        if any(a == b for a, b in keys):
            assert similarity(sketches[one], sketches[other]) < LEAST + 0.002


def compared_with_all(pages: Mapping[str, Text], standing: set[str]) -> set[str]:
    """Return the leaders that there are if all pages are compared one by one, the standing leaders first."""
    leaders, found = Leaders(LEAST), set()
    urls = [url for url, text in pages.items() if text != NO_WORDS]
    for url in sorted(urls, key=lambda url: (url not in standing, len(url), HASHES[url])):
        number = HASHES[url]
        if url in standing:
            leaders.add(number, sketch_of(pages[url]))
            found.add(url)
        elif leaders.leader_of(number, sketch_of(pages[url])) == number:
            found.add(url)
    return found


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.integers(2, 8))
def test_after_any_changes_groups_are_those_of_comparing_all_pages_with_the_standing_leaders_first(
    seed: int, steps: int
) -> None:
    chance = random.Random(seed)
    store = MemoryStore()
    index, state = MadeUpIndex(store, PARTITIONS), NO_FILES
    before: dict[str, Text] = {}
    led: set[str] = set()
    for _ in range(steps):
        change(index, chance)
        state = group(store, index.entries(), state)
        groups, pages = index.groups(state), dict(index.pages)
        check_stars(pages, groups)
        leaders = leaders_of(pages, groups)
        check_apart(pages, leaders)
        standing = {url for url in led if before[url] == pages.get(url)}
        assert leaders == compared_with_all(pages, standing)
        before, led = pages, leaders


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32), st.integers(2, 5))
def test_with_many_shards_groups_are_still_stars(seed: int, shards: int) -> None:
    chance = random.Random(seed)
    store = MemoryStore()
    index, state = MadeUpIndex(store, PARTITIONS), NO_FILES
    for _ in range(4):
        change(index, chance)
        state = group(store, index.entries(), state, shards)
        check_stars(index.pages, index.groups(state))


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32))
def test_changes_that_are_taken_back_or_move_pages_change_no_group(seed: int) -> None:
    chance = random.Random(seed)
    store = MemoryStore()
    index = MadeUpIndex(store, PARTITIONS)
    change(index, chance)
    state = group(store, index.entries())
    groups = index.groups(state)
    index.fetch({url: index.pages[url] for url in chance.sample(sorted(index.pages), len(index.pages) // 2)})
    for partition in range(PARTITIONS):
        index.merge(partition, chance)
    assert index.groups(group(store, index.entries(), state)) == groups


def by_kind(files: tuple[FileEntry, ...], kind: str) -> set[str]:
    return {entry.name for entry in files if entry.kind == kind}


def test_the_next_leader_follows_where_one_goes(store: MemoryStore) -> None:
    index = MadeUpIndex(store, PARTITIONS)
    near = {URLS[number]: (0, number) for number in (0, 1, 2)}
    index.fetch({**near, URLS[3]: (1, 0)})
    state = group(store, index.entries())
    assert index.groups(state) == dict.fromkeys(near, HASHES[URLS[0]])
    index.delete(URLS[0])
    state = group(store, index.entries(), state)
    assert index.groups(state) == dict.fromkeys(URLS[1:3], HASHES[URLS[1]])
    index.fetch({URLS[0]: (0, 0)})
    state = group(store, index.entries(), state)
    assert index.groups(state) == dict.fromkeys(near, HASHES[URLS[1]]), "a leader stays one"
    index.fetch({URLS[1]: (2, 0)})
    state = group(store, index.entries(), state)
    assert index.groups(state)[URLS[0]] == index.groups(state)[URLS[2]] == HASHES[URLS[0]]
    assert index.groups(state).get(URLS[1], HASHES[URLS[1]]) == HASHES[URLS[1]]


def test_a_grouping_writes_only_what_has_changed(store: MemoryStore) -> None:
    index = MadeUpIndex(store, PARTITIONS)
    index.fetch({url: (number, 0) for number, url in enumerate(URLS)})
    first = group(store, index.entries())
    index.fetch({URLS[0]: (100, 0)})
    entries = index.entries()
    second = group(store, entries, first)
    assert len(by_kind(second, COMPARED) - by_kind(first, COMPARED)) == 1
    assert by_kind(first, COMPARED) < by_kind(second, COMPARED)
    third = group(store, entries, second)
    assert {entry.name for entry in third} == {entry.name for entry in second}
    assert are_grouped((*entries, *third), LEAST)
    assert not are_grouped((*index.entries(), *third), LEAST)


def test_files_are_dropped_with_the_last_of_their_segments(store: MemoryStore) -> None:
    index = MadeUpIndex(store, 1)
    index.fetch({URLS[0]: (0, 0), URLS[1]: (1, 0)})
    first = group(store, index.entries())
    index.delete(URLS[0])
    index.delete(URLS[1])
    chance = random.Random(1)
    while any(entry.kind == "segments" for entry in index.entries()):
        index.merge(0, chance)
    assert group(store, index.entries(), first) == ()


def test_groups_that_do_not_say_what_was_compared_are_made_anew(store: MemoryStore) -> None:
    index = MadeUpIndex(store, PARTITIONS)
    index.fetch({URLS[0]: (0, 0)})
    (groups, *_) = (entry for entry in group(store, index.entries()) if entry.kind == GROUPS)
    assert can_continue([groups], LEAST)
    assert not can_continue([groups], LEAST + 0.01)
    groups.counters.clear()
    assert not can_continue([groups], LEAST)
    assert not can_continue([], LEAST)
