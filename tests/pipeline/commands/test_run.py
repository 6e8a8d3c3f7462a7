from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from crawlctl.pipeline.state.lease import hold_lease
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore

PAGES = 10 + 1  # and the one they have in common
JOBS = Path(__file__).parent.parent / "runners" / "jobs"
SETTINGS = ("recrawl.pace.initial=5000d", "recrawl.pace.minimum=5000d", "recrawl.pace.maximum=5000d")
ONCE = [part for setting in SETTINGS for part in ("--set", setting)]
PROGRAM = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import crawlctl.jobs.fetch_index, stand_in_fetch
crawlctl.jobs.fetch_index.FetchIndex = stand_in_fetch.StandInFetch
from crawlctl.cli import main
main()
"""


@pytest.fixture
def crawlctl(shell: Any, made_up_web: Any) -> Any:
    Path("seed.txt").write_text("https://host0.example/0\n")
    return shell


def test_one_command_makes_a_crawl_and_runs_it_to_its_end(crawlctl: Any) -> None:
    table = crawlctl(*ONCE, "run", "--seed", "seed.txt", "--until-empty").splitlines()
    assert table[0].split() == ["round", "WebDB", "URLs", "fetched", "fresh", "URLs", "seconds"]
    assert table[-1].split()[:4] == ["all", str(PAGES), str(PAGES), str(PAGES - 1)]
    assert crawlctl.json("status")["statuses"] == {"fetched": PAGES}


def test_rounds_are_printed_as_json(crawlctl: Any) -> None:
    reports = crawlctl.json(*ONCE, "run", "--seed", "seed.txt", "--iterations", "2")
    assert [(report["round"], report["fetched"]) for report in reports] == [(1, 1), (2, 3)]
    assert crawlctl.json(*ONCE, "run", "--pages", "1000")[0]["round"] == 3
    crawlctl(*ONCE, "run", "--until-empty")
    assert crawlctl.json(*ONCE, "run") == []


def test_progress_goes_to_standard_error_as_lines(crawlctl: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from crawlctl.cli import run

    assert run([*ONCE, "run", "--seed", "seed.txt", "--runner", "inline"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("making a crawl of ")
    assert said[1:3] == ["injected 1 new URLs", "round 1, fetch: 1 pages"]
    assert any(line.startswith("round 1, merge: ") for line in said)


def test_a_busy_store_exits_with_75_and_prints_no_table(crawlctl: Any) -> None:
    crawlctl("run", "--seed", "seed.txt")
    with hold_lease(LocalStore(Path("crawl")), 60, "inject"):
        assert "in use by `crawlctl inject`" in crawlctl("run", code=75)


def test_without_a_crawl_the_error_names_init(crawlctl: Any) -> None:
    assert "crawlctl init --store" in crawlctl("run", code=1)
    assert not Path("crawl").exists()


def test_a_bad_seed_file_starts_nothing(crawlctl: Any) -> None:
    Path("bad.txt").write_text("htp://nowhere/\n")
    assert "line 1" in crawlctl("run", "--seed", "bad.txt", code=2)
    assert not Path("crawl").exists()


def test_an_unknown_runner_is_a_usage_error(crawlctl: Any) -> None:
    assert "--runner" in crawlctl("run", "--runner", "slurm", code=2)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.integration)],
)
def test_a_signal_says_how_to_go_on(crawlctl: Any, tmp_path: Path, number: signal.Signals, code: int) -> None:
    log = tmp_path / "log"
    log.touch()
    environment = {**os.environ, "FETCH_LOG": str(log), "PAGE_SECONDS": "0.3"}
    command = [sys.executable, "-c", PROGRAM, str(JOBS), *ONCE, "run", "--seed", "seed.txt", "--until-empty"]
    process = subprocess.Popen(
        [*command, "--json"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and "saved" not in log.read_text():
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == code, err
    assert "run the same command to go on" in err.splitlines()[-1]
    finished = json.loads(out)
    store = LocalStore(Path("crawl"))
    assert load_current(store).round == len(finished)
    crawlctl(*ONCE, "run", "--until-empty")
    assert crawlctl.json("status")["statuses"] == {"fetched": PAGES}


def test_gc_keeps_what_a_stopped_run_has_saved(crawlctl: Any, tmp_path: Path) -> None:
    crawlctl("run", "--seed", "seed.txt")
    store = LocalStore(Path("crawl"))
    snapshot = load_current(store)
    store.put(f"rounds/{snapshot.round + 1:08d}/fetch.json", b"")
    store.put("webdb/00000/orphan", b"x")
    deleted = crawlctl.json("gc", "--keep", "1", "--min-age", "0")["files"]
    assert "webdb/00000/orphan" in deleted
    assert f"rounds/{snapshot.round:08d}/fetch.json" in deleted
    assert f"rounds/{snapshot.round + 1:08d}/fetch.json" not in deleted
