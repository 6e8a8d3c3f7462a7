from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.layout import EXTRACT
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.extract.extract_file import LayerExtract, hashed, without
from crawlctl.pipeline.webdb.extract.part_extract import extract_of, unsettled_in
from crawlctl.pipeline.webdb.part import part_in, write_part
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry

KEYS = [b"a.example http://a.example/%05d" % number for number in range(3000)]
VALUES = [encode(WebEntry(Status.UNFETCHED, number, 0.5, 1, 0, reason="x" * 90)) for number in range(3000)]


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def written(store: LocalStore, unsettled: list[bytes] | None = None) -> tuple[FileEntry, ...]:
    return write_part(store, [(KEYS, VALUES)], partition=0, round_number=1, unsettled=unsettled)


def test_rows_are_found_in_the_blocks_of_a_layer(store: LocalStore) -> None:
    part = part_in(store, written(store))
    extract = extract_of(part)
    assert part is not None and extract is not None
    assert len(extract.layers[0].read("block_ends")) > 2, "several blocks, or the test says nothing"
    assert [extract.row(0, number) for number in range(3000)] == list(zip(KEYS, VALUES, strict=True))


def test_what_a_review_must_see_again_is_kept_by_its_keys(store: LocalStore) -> None:
    assert unsettled_in(None) == []
    assert unsettled_in(part_in(store, written(store))) is None
    assert unsettled_in(part_in(store, written(store, []))) == []
    assert unsettled_in(part_in(store, written(store, KEYS[5:2:-1]))) == KEYS[3:6]


def test_very_many_pages_to_see_again_are_all_pages(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawlctl.pipeline.webdb.extract.extract_file.MOST_UNSETTLED", 3)
    assert unsettled_in(part_in(store, written(store, KEYS[:3]))) == KEYS[:3]
    assert unsettled_in(part_in(store, written(store, KEYS[:4]))) is None


def test_a_part_without_extracts_has_none(store: LocalStore) -> None:
    files = [entry for entry in written(store, []) if not entry.name.endswith(EXTRACT)]
    part = part_in(store, files)
    assert part is not None and extract_of(part) is None and unsettled_in(part) is None
    assert extract_of(None) is None


def test_an_extract_of_another_version_is_not_used(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = part_in(store, written(store, []))
    monkeypatch.setattr("crawlctl.pipeline.webdb.extract.part_extract.VERSION", 2)
    assert extract_of(part) is None and unsettled_in(part) is None


def test_damage_is_told(store: LocalStore, tmp_path: Path) -> None:
    entry = next(entry for entry in written(store) if entry.name.endswith(EXTRACT))
    path = tmp_path / entry.name
    sound = path.read_bytes()
    for damaged in (sound[:-1], bytes([*sound[:5000], sound[5000] ^ 1, *sound[5001:]])):
        path.write_bytes(damaged)
        with pytest.raises(CorruptFile, match=r"extract: damaged"):
            LayerExtract(store, entry).whole("keys")


@given(st.lists(st.integers(0, 5)), st.data())
def test_numbers_are_taken_away_as_often_as_they_are_named(numbers: list[int], data: st.DataObject) -> None:
    taken = data.draw(st.lists(st.sampled_from(numbers), max_size=len(numbers))) if numbers else []
    taken = [number for at, number in enumerate(taken) if taken[:at].count(number) < numbers.count(number)]
    left = without(np.array(numbers, np.int64), [np.array(taken, np.int64)]).tolist()
    assert sorted([*left, *taken]) == sorted(numbers)


def test_no_keys_have_no_hashes() -> None:
    assert hashed(()).tolist() == []
