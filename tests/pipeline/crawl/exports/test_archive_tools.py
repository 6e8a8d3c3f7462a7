"""Programs of others read our archives and exports: cdxj-indexer, pywb and py-wacz.

They need packages that do not go together with ours, so `make archive-tools` installs them in an environment
of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.crawl.exports.cdxj import write_cdxj
from crawlctl.pipeline.crawl.exports.exported_captures import Chosen
from crawlctl.pipeline.crawl.exports.wacz import write_wacz
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.surt import surt
from crawlctl.tests.pipeline.captures.made_captures import A, B, make_captured
from crawlctl.tests.pipeline.urls.test_surt import KEYS

if TYPE_CHECKING:
    from crawlctl.pipeline.state.snapshots import Snapshot

ROOT = Path(__file__).resolve().parents[4]
TOOLS = Path(os.environ.get("ARCHIVE_TOOLS") or ROOT / ".archive-tools") / "bin"
REPLAY = Path(__file__).with_name("replay_with_pywb.py")

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        not (TOOLS / "cdxj-indexer").exists(),
        reason="cdxj-indexer, pywb and wacz are not installed; `make archive-tools` does it",
    ),
]


def used(tool: str, *arguments: str, folder: Path) -> str:
    command = [str(TOOLS / tool), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


@pytest.fixture
def snapshot(store: LocalStore) -> Snapshot:
    return make_captured(store)


@pytest.fixture
def index(store: LocalStore, snapshot: Snapshot, tmp_path: Path) -> Path:
    path = tmp_path / "index.cdxj"
    with path.open("wb") as sink:
        write_cdxj(store, snapshot, Chosen(), sink, tmp_path)
    return path


def fields_of(lines: str) -> dict[tuple[str, str], dict[str, str]]:
    found = (line.split(" ", 2) for line in lines.splitlines())
    return {(key, time): json.loads(fields) for key, time, fields in found}


def test_cdxj_indexer_finds_the_same_in_our_archives(
    store: LocalStore, snapshot: Snapshot, index: Path, tmp_path: Path
) -> None:
    archives = [str(store.root / entry.name) for entry in snapshot.files_of("pages")]
    told = used("cdxj-indexer", "--sort", "--dir-root", str(store.root), *archives, folder=tmp_path)
    theirs = fields_of(told)
    for fields in theirs.values():
        fields["mime"] = fields["mime"].lower()
    ours = fields_of(index.read_text())
    assert theirs.keys() == ours.keys()
    revisits = {place for place, fields in theirs.items() if fields["mime"] == "warc/revisit"}
    assert len(revisits) == 1
    for place in theirs.keys() - revisits:
        assert ours[place] == theirs[place]


def test_pywb_replays_pages_from_our_archives(store: LocalStore, index: Path, tmp_path: Path) -> None:
    asked = [f"20231115221320 {A}", f"20231115221322 {B}", f"20231114221322 {B}"]
    told = used("python", str(REPLAY), str(index), f"{store.root}/", *asked, folder=tmp_path)
    answers = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    assert [(one["status"], one["body"]) for one in answers] == [
        (200, "<p>apes"),  # unchanged at that time
        (200, "more bears"),
        (200, "bears"),
    ]
    assert answers[2]["time"] == "Tue, 14 Nov 2023 22:13:22 GMT"


@pytest.mark.parametrize("chosen", [Chosen(), Chosen(prefix=B)])
def test_py_wacz_validates_our_packages(
    store: LocalStore, snapshot: Snapshot, tmp_path: Path, chosen: Chosen
) -> None:
    with (tmp_path / "crawl.wacz").open("wb") as sink:
        write_wacz(store, snapshot, chosen, sink, tmp_path)
    told = used("wacz", "validate", "-f", "crawl.wacz", folder=tmp_path)
    assert "Validation succeeded" in told


def test_keys_are_those_of_the_library_surt(tmp_path: Path) -> None:
    program = "import sys, surt; [print(surt.surt(url)) for url in sys.argv[1:]]"
    told = used("python", "-c", program, *KEYS, folder=tmp_path).splitlines()
    assert told == list(map(surt, KEYS))
