"""`crawlctl check` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.open import open_store

if TYPE_CHECKING:
    from typing import Any

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.tests.pipeline.commands.conftest import Shell


@pytest.fixture
def crawled(shell: Shell, made_up_web: Any, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("WEB_TEXTS", "yes")
    Path("seeds.txt").write_text("".join(f"{made_up_web.page(n)}\n" for n in range(9)))
    shell("init", "--store", "crawl", "--partitions", "2")
    shell("inject", "--store", "crawl", "seeds.txt")
    shell("run", "--store", "crawl", "--iterations", "1", "--runner", "inline")
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


def test_a_sound_crawl_is_told_in_one_line(crawled: Shell) -> None:
    snapshot = load_current(open_store("crawl"))
    size = sum(entry.bytes for entry in snapshot.files)
    told = f"snapshot {snapshot.number}: {len(snapshot.files)} files, {size} bytes, all sound\n"
    assert crawled("check", "--store", "crawl") == told
    assert crawled.json("check", "--store", "crawl") == {
        "snapshot": snapshot.number,
        "files": len(snapshot.files),
        "bytes": size,
        "unsound": [],
    }


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
    assert len(told) == 4
    assert sorted(line.partition(":")[0] for line in told[:3]) == sorted(
        entry.name for entry in (flipped, gone, shorter)
    )
    reasons = {line.partition(": ")[0]: line.partition(": ")[2] for line in told}
    assert reasons[flipped.name].startswith("it is damaged: its SHA-256")
    assert reasons[gone.name].startswith("it is missing; put the file of the same name there from a copy")
    assert reasons[shorter.name].startswith(f"it is damaged: it has {shorter.bytes - 1} bytes")
    assert told[3].endswith("3 of them damaged or missing")
    found = json.loads("".join(lines(capsys, "crawl", "--json", code=1)))
    assert [one["file"] for one in found["unsound"]] == [line.partition(":")[0] for line in told[:3]]
    assert {one["kind"] for one in found["unsound"]} == {"segments", "webdb"}


@pytest.mark.parametrize(
    ("kind", "typed"), [("dictionary", "merge --full"), ("ranks", "rank"), ("graph", "rank")]
)
def test_what_is_made_of_other_files_is_sound_again_after_the_command_that_is_named(
    crawled: Shell, capsys: pytest.CaptureFixture[str], kind: str, typed: str
) -> None:
    crawled("rank", "--store", "crawl", "--runner", "inline")
    flip(files(kind)[0])
    (line, _) = lines(capsys, "crawl", code=1)
    assert f"make it again with `crawlctl {typed} --store " in line
    crawled(*typed.split(), "--store", "crawl", "--runner", "inline")
    assert "all sound" in crawled("check", "--store", "crawl")


def test_a_damaged_copy_is_sound_again_after_the_copy_that_is_named(
    crawled: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    crawled("copy", "crawl", "copy")
    flip(files("webdb", "copy")[0], "copy")
    (line, _) = lines(capsys, "copy", code=1)
    command = line.partition("`crawlctl ")[2].partition("`")[0]
    assert command.startswith("copy ") and command.endswith(" --verify")
    crawled(*command.split())
    assert "all sound" in crawled("check", "--store", "copy")


def test_where_there_is_no_crawl_that_is_said(shell: Shell) -> None:
    assert "holds no crawl" in shell("check", "--store", "nowhere", code=1)
