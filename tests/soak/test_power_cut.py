"""After a power cut no committed snapshot is lost or torn, and the next run ends like an undisturbed one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import CrawlctlError, NotACrawl
from crawlctl.pipeline.state.layout import number_of
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.comparison import assert_same, crawled
from crawlctl.tests.soak.effort import by_effort, chance
from crawlctl.tests.soak.power_cut import Disk, Step, after_cut
from crawlctl.tests.soak.small_web import crawl_all, small_config

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawlctl.pipeline.store.base import Store
    from crawlctl.tests.soak.recording import Recording

pytestmark = [pytest.mark.soak, pytest.mark.integration, pytest.mark.timeout(by_effort(300, 3600))]

CUTS = by_effort(40, 400)
RUNS_EVERY = by_effort(4, 2)  # of how many cuts one is followed by a run


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def promised_snapshot(steps: Sequence[Step]) -> int:
    """Return the number of the newest snapshot whose commit had returned."""
    names = [step.path for step in steps if step.kind == "returned" and step.path.startswith("snapshots/")]
    return max((number_of(name) or 0 for name in names), default=0)


def test_the_recording_tells_all_that_was_done_to_the_disk(recording: Recording, tmp_path: Path) -> None:
    Disk(recording.steps).write_whole(tmp_path / "again")
    assert content(tmp_path / "again") == content(recording.store.root)


def test_a_disk_that_has_synced_nothing_may_lose_all(tmp_path: Path) -> None:
    steps = [Step("create", "a"), Step("write", "a", b"data"), Step("sync_file", "a")]
    left = set()
    for number in range(50):
        after_cut(steps, 3, folder := tmp_path / str(number), chance(str(number)))
        left.add((folder / "a").read_bytes() if (folder / "a").exists() else None)
    assert left == {None, b"data"}
    steps = [Step("create", "a"), Step("sync_folder", ""), Step("write", "a", b"data")]
    for number in range(50):
        after_cut(steps, 3, folder := tmp_path / f"b{number}", chance(str(number)))
        assert (folder / "a").exists()
        left.add((folder / "a").read_bytes())
    assert {b"", b"data", bytes(4)} < left


def test_no_committed_snapshot_is_lost_or_torn(recording: Recording, tmp_path: Path) -> None:
    random = chance("power cut")
    for number in range(CUTS):
        done = random.randrange(1, len(recording.steps) + 1)
        store = LocalStore(tmp_path / str(number))
        after_cut(recording.steps, done, store.root, random)
        promised = promised_snapshot(recording.steps[:done])
        told = f"cut {number} after {done} of {len(recording.steps)} steps, snapshot {promised} was committed"
        assert_sound(store, promised, told)
        if number % RUNS_EVERY == 0:
            crawl_all(store, small_config(tmp_path), recording.seeds)
            assert_same(crawled(store), recording.whole)


@pytest.mark.parametrize("left_out", ["sync_file", "sync_folder"])
def test_the_model_finds_out_who_does_not_sync(recording: Recording, tmp_path: Path, left_out: str) -> None:
    random = chance(left_out)
    steps = [step for step in recording.steps if step.kind != left_out]
    for number in range(CUTS):
        store = LocalStore(tmp_path / str(number))
        after_cut(steps, random.randrange(len(steps) // 2, len(steps)), store.root, random)
        try:
            assert_sound(store, 3, "")
        except (AssertionError, CrawlctlError):
            return
    pytest.fail(f"a store without {left_out} was not found out")


def assert_sound(store: Store, promised: int, told: str) -> None:
    """Hold that the promised snapshot, or one that followed it, is there with all its files."""
    try:
        snapshot = load_current(store)
    except NotACrawl:
        assert promised == 0, told
        return
    assert snapshot.number >= promised, told
    for entry in snapshot.files:
        assert hashlib.sha256(store.read(entry.name)).hexdigest() == entry.checksum, f"{entry.name}; {told}"
