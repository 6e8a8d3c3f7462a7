"""A real file system without a free block: gc works there, and whoever else writes is told to run it."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.errors import StoreFull
from crawlctl.pipeline.state.leases.lease import hold_lease
from crawlctl.pipeline.state.snapshots import create_crawl
from crawlctl.pipeline.store.local.spare import SPARE, SPARES
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.store.local.small_disk import small_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ORPHAN_BYTES = 128 << 10


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    with small_disk(tmp_path / "disk", "1m") as folder:
        yield folder


@pytest.fixture
def full(disk: Path) -> LocalStore:
    """A crawl with a file nobody names, on a disk without a free block."""
    store = LocalStore(disk / "crawl")
    create_crawl(store, 1)
    with hold_lease(store, 60, "run"):
        store.put("docs/00000/00000001-0123456789abcdef", b"x" * ORPHAN_BYTES)
    fill(disk)
    return store


def fill(disk: Path) -> None:
    with (disk / "filler").open("ab", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(b"x" * 4096)


def gc(store: LocalStore) -> int:
    return run(["gc", "--store", store.uri, "--min-age", "0"])


def free_bytes(store: LocalStore) -> int:
    return shutil.disk_usage(store.root).free


def test_gc_frees_a_full_disk_and_leaves_room_for_the_next_time(
    full: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert free_bytes(full) == 0
    assert gc(full) == 0
    assert "1 file" in capsys.readouterr().out
    assert free_bytes(full) >= ORPHAN_BYTES - (16 << 10)
    assert len(list(full.root.glob(f"lease/{SPARE}*"))) == SPARES
    with hold_lease(full, 60, "run"):
        pass


def test_others_are_refused_and_leave_the_room_to_gc(full: LocalStore) -> None:
    for _ in range(3):
        with pytest.raises(StoreFull, match="run `crawlctl gc`"), hold_lease(full, 60, "run"):
            pass
    assert gc(full) == 0


def test_gc_may_be_run_again_when_it_freed_nothing(full: LocalStore) -> None:
    for _ in range(SPARES // 2 - 1):
        assert run(["gc", "--store", full.uri, "--min-age", "1h"]) == 0
        assert free_bytes(full) == 0
    assert gc(full) == 0
    assert free_bytes(full) > 0


def test_without_the_room_gc_says_that_the_disk_is_full(full: LocalStore) -> None:
    for spare in full.root.glob(f"lease/{SPARE}*"):
        spare.unlink()
    fill(full.root.parent)
    with pytest.raises(StoreFull, match="free some space"), hold_lease(full, 60, "gc", on_full_disk=True):
        pass


def test_a_number_that_is_taken_is_not_overwritten(full: LocalStore) -> None:
    taken = next(iter(full.list("lease/"))).name
    before = full.read(taken)
    assert not full.create_from_spare(taken, b"mine")
    assert full.read(taken) == before
