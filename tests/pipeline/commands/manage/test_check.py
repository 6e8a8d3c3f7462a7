"""`crawlctl check` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.cli import run
from crawlctl.pipeline.duplicates.order import STATE_KINDS
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.state.kinds import COMPARED
from crawlctl.pipeline.state.snapshots import commit, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.store.open import open_store
from crawlctl.pipeline.terminal.counted import sized
from crawlctl.tests.comparison import crawled as crawled_of
from crawlctl.tests.pipeline.commands.damaged_crawl import linked_copy

if TYPE_CHECKING:
    from typing import Any

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.tests.pipeline.commands.conftest import Shell
    from crawlctl.tests.pipeline.commands.damaged_crawl import SmallCrawl


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the crawl is that the first test makes; all tests begin with a copy of it."""
    return tmp_path_factory.mktemp("made") / "crawl"


@pytest.fixture
def crawled(shell: Shell, made_up_web: Any, monkeypatch: pytest.MonkeyPatch, made: Path) -> Shell:
    monkeypatch.setenv("WEB_TEXTS", "yes")
    Path("seeds.txt").write_text("".join(f"{made_up_web.page(n)}\n" for n in range(9)))
    if not made.exists():
        shell("init", "--store", str(made), "--partitions", "2")
        shell("inject", "--store", str(made), "seeds.txt")
        shell("run", "--store", str(made), "--iterations", "1", "--runner", "inline")
    copytree(made, "crawl")
    return shell


def files(kind: str, store: str = "crawl") -> tuple[FileEntry, ...]:
    return tuple(entry for entry in load_current(open_store(store)).files_of(kind) if entry.bytes)


def flip(entry: FileEntry, store: str = "crawl") -> None:
    path = Path(store, entry.name)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def lines(capsys: pytest.CaptureFixture[str], *arguments: str, code: int) -> list[str]:
    assert run(["check", "--store", *arguments]) == code
    return capsys.readouterr().out.splitlines()


@pytest.mark.slow
def test_a_sound_crawl_is_told_in_one_line(crawled: Shell) -> None:
    snapshot = load_current(open_store("crawl"))
    size = sum(entry.bytes for entry in snapshot.files)
    told = f"snapshot {snapshot.number}: {len(snapshot.files)} files, {sized(size)}, all sound\n"
    assert crawled("check", "--store", "crawl") == told
    assert crawled.json("check", "--store", "crawl") == {
        "snapshot": snapshot.number,
        "files": len(snapshot.files),
        "bytes": size,
        "unsound": [],
        "sound": [entry.name for entry in snapshot.files],
        "remedy": "",
    }
    every = crawled("check", "--all", "--store", "crawl").splitlines()
    assert every[:-1] == [f"{entry.name}: sound, {sized(entry.bytes)}" for entry in snapshot.files]


def test_each_damaged_and_missing_file_has_a_line_and_the_exit_code_is_1(
    crawled: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    flipped, gone, *_ = files("segments")
    shorter = files("webdb")[0]
    flip(flipped)
    Path("crawl", gone.name).unlink()
    path = Path("crawl", shorter.name)
    path.write_bytes(path.read_bytes()[:-1])
    told = lines(capsys, "crawl", code=1)
    assert len(told) == 5
    assert sorted(line.partition(":")[0] for line in told[:3]) == sorted(
        entry.name for entry in (flipped, gone, shorter)
    )
    reasons = {line.partition(": ")[0]: line.partition(": ")[2] for line in told}
    assert reasons[flipped.name].startswith("it is damaged: its SHA-256")
    assert reasons[gone.name] == "it is missing"
    assert reasons[shorter.name].startswith(f"it is damaged: it has {shorter.bytes - 1} bytes")
    assert told[3].endswith("3 of them damaged, missing or wrong")
    assert told[4].startswith("repair the crawl with `crawlctl check --repair --store ")
    found = json.loads("".join(lines(capsys, "crawl", "--json", code=1)))
    assert [one["file"] for one in found["unsound"]] == [line.partition(":")[0] for line in told[:3]]
    assert {one["kind"] for one in found["unsound"]} == {"segments", "webdb"}


WRONG = {
    "deleted": "is about segments/",
    "priors": "is about segments/",
    "dictionary": "does not have the segment segments/",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", WRONG)
def test_a_file_of_another_time_is_found_by_what_it_refers_to(
    small: SmallCrawl, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """Its bytes are sound, but the other files are not those that it was made for."""
    store = LocalStore(linked_copy(small.folder, tmp_path / "crawl"))
    before = small.snapshot
    assert run(["merge", "--full", "--runner", "inline", "--store", str(store.root)]) == 0
    after = load_current(store)
    others = [entry for entry in after.files if entry.kind != kind]
    commit(store, after, files=[*others, *before.files_of(kind)], round_number=after.round)
    capsys.readouterr()
    told = lines(capsys, str(store.root), "--runner", "inline", code=1)
    assert WRONG[kind] in told[0]
    assert run(["check", "--repair", "--runner", "inline", "--store", str(store.root)]) == 0
    capsys.readouterr()
    assert lines(capsys, str(store.root), "--runner", "inline", code=0)[-1].endswith("all sound")


@pytest.mark.slow
def test_groups_may_be_older_than_the_segments(
    small: SmallCrawl, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run makes them again only when enough documents were not compared (index.group_share)."""
    store = LocalStore(linked_copy(small.folder, tmp_path / "crawl"))
    assert run(["merge", "--full", "--runner", "inline", "--store", str(store.root)]) == 0
    after = load_current(store)
    others = [entry for entry in after.files if entry.kind not in STATE_KINDS]
    older = [entry for entry in small.snapshot.files if entry.kind in STATE_KINDS]
    commit(store, after, files=[*others, *older], round_number=after.round)
    capsys.readouterr()
    assert lines(capsys, str(store.root), "--runner", "inline", code=0)[-1].endswith("all sound")


def test_groups_without_what_was_compared_are_found_and_made_anew(
    small: SmallCrawl, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = LocalStore(linked_copy(small.folder, tmp_path / "crawl"))
    before = small.snapshot
    files = [entry for entry in before.files if entry.kind != COMPARED]
    commit(store, before, files=files, round_number=before.round)
    assert "no file says which documents" in lines(capsys, str(store.root), "--runner", "inline", code=1)[0]
    assert run(["check", "--repair", "--runner", "inline", "--store", str(store.root)]) == 0
    assert load_current(store).files_of(COMPARED)


def test_counters_that_are_not_true_are_found(
    small: SmallCrawl, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = LocalStore(linked_copy(small.folder, tmp_path / "crawl"))
    before = small.snapshot
    parts = [entry for entry in before.files_of("webdb") if entry.counters]
    wrong = {entry.name: replace(entry, counters={**entry.counters, "fetched": 1000}) for entry in parts}
    files = [wrong.get(entry.name, entry) for entry in before.files]
    commit(store, before, files=files, round_number=before.round)
    assert "fetched, not 1000" in lines(capsys, str(store.root), "--runner", "inline", code=1)[0]


@pytest.mark.slow
def test_live_pages_without_documents_are_found_and_brought_back(
    small: SmallCrawl, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = LocalStore(linked_copy(small.folder, tmp_path / "crawl"))
    before = small.snapshot
    lost = max(segments_of(before.files), key=lambda segment: segment.documents)
    files = [entry for entry in before.files if not entry.name.startswith(lost.name)]
    commit(store, before, files=files, round_number=before.round)
    told = "\n".join(lines(capsys, str(store.root), "--runner", "inline", code=1))
    assert "pages are live and have no document, such as http://127.0.0.1" in told
    assert run(["check", "--repair", "--runner", "inline", "--store", str(store.root)]) == 0
    assert capsys.readouterr().out.endswith("nothing was lost\n")
    assert crawled_of(store).documents == crawled_of(LocalStore(small.folder)).documents


def test_an_older_snapshot_can_be_checked(small: SmallCrawl, capsys: pytest.CaptureFixture[str]) -> None:
    number = small.snapshot.number - 1
    told = lines(capsys, str(small.folder), "--runner", "inline", "--snapshot", str(number), code=0)
    assert told[-1].startswith(f"snapshot {number}: ")


def test_a_damaged_copy_is_sound_again_after_the_copy_that_is_named(
    crawled: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    crawled("copy", "crawl", "copy")
    flip(files("webdb", "copy")[0], "copy")
    *_, line = lines(capsys, "copy", code=1)
    command = line.partition("`crawlctl ")[2].partition("`")[0]
    assert command.startswith("copy ") and command.endswith(" --verify")
    crawled(*command.split())
    assert "all sound" in crawled("check", "--store", "copy")


def test_where_there_is_no_crawl_that_is_said(shell: Shell) -> None:
    assert "holds no crawl" in shell("check", "--store", "nowhere", code=1)
