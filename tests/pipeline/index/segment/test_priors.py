from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.segment.priors import (
    MAX_PRIOR,
    prior_byte,
    read_priors,
    write_priors,
)
from crawlctl.pipeline.index.segment.side_file import RangedSideFile
from crawlctl.pipeline.store.local.store import LocalStore


@given(st.floats(0, allow_nan=False), st.floats(0, allow_nan=False))
def test_a_higher_rank_has_no_lower_prior(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 1 <= prior_byte(low) <= prior_byte(high) <= MAX_PRIOR


def test_priors_are_capped() -> None:
    assert prior_byte(0) == 1
    assert prior_byte(1024) == prior_byte(1e9) == MAX_PRIOR
    assert 1 < prior_byte(1) < MAX_PRIOR / 2


@given(st.dictionaries(st.text("ab/", min_size=1), st.binary(max_size=20), min_size=1))
@settings(deadline=None)  # the disk may take its time
def test_priors_are_read_by_segment(priors: dict[str, bytes]) -> None:
    with TemporaryDirectory() as folder:
        store = LocalStore(Path(folder))
        files = write_priors(store, priors, partition=3, round_number=1)
        (reader,) = read_priors(store, files).values()
        assert {name: reader.of(name) for name in priors} == priors
        assert reader.of("another") is None
        assert "another" not in reader


def test_a_directory_may_be_long(store: LocalStore) -> None:
    priors = {f"segments/{number:>060}": bytes((number % 256,)) for number in range(2000)}
    (entry,) = write_priors(store, priors, partition=3, round_number=1)
    assert RangedSideFile(store, entry).of(f"segments/{1999:>060}") == bytes((1999 % 256,))


def test_no_segments_no_file(store: LocalStore) -> None:
    assert write_priors(store, {}, partition=0, round_number=1) == ()


@given(st.data())
@settings(deadline=None)  # the disk may take its time
def test_damage_is_noticed_or_harmless(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        store = LocalStore(Path(folder))
        (entry,) = write_priors(store, {"s": b"abc", "t": b"d"}, partition=0, round_number=1)
        whole = store.read(entry.name)
        place = data.draw(st.integers(0, len(whole) - 1))
        damaged = whole[:place] + bytes((whole[place] ^ data.draw(st.integers(1, 255)),)) + whole[place + 1 :]
        (store.root / entry.name).write_bytes(damaged)
        try:
            found = RangedSideFile(store, entry).of("s")
        except CorruptFile:
            return
        assert found in (b"abc", None)


@pytest.mark.parametrize("size", [0, 3, 20])
def test_a_cut_file_is_damaged(store: LocalStore, size: int) -> None:
    (entry,) = write_priors(store, {"s": b"abc", "t": b"d"}, partition=0, round_number=1)
    (store.root / entry.name).write_bytes(store.read(entry.name)[:size])
    with pytest.raises(CorruptFile):
        RangedSideFile(store, entry).of("t")
