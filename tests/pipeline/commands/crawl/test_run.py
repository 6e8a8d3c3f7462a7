from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.leases.lease import hold_lease
from crawlctl.pipeline.state.snapshots import load_current, load_snapshot
from crawlctl.pipeline.store.local.store import LocalStore

PAGES = 10 + 1  # and the one they have in common
JOBS = Path(__file__).parents[2] / "runners" / "jobs"
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
def crawlctl(shell: Any, made_up_web: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("CRAWLCTL_RUNNER_NAME", "inline")
    monkeypatch.setenv("CRAWLCTL_PARTITIONS", "2")
    Path("seed.txt").write_text("https://host0.example/0\n")
    return shell


@pytest.mark.slow
def test_one_command_makes_a_crawl_and_runs_it_to_its_end(crawlctl: Any) -> None:
    table = crawlctl(*ONCE, "run", "--seed", "seed.txt", "--until-empty").splitlines()
    assert table[0].split()[:4] == ["round", "pages", "new", "changed"]
    (total,) = (line.split() for line in table if line.startswith("  all"))
    assert (total[1], total[2], total[5], total[6]) == (str(PAGES), str(PAGES), str(PAGES - 1), str(PAGES))
    assert crawlctl.json("status")["statuses"] == {"fetched": PAGES}


def test_a_url_is_a_seed(crawlctl: Any) -> None:
    rounds = crawlctl.json(*ONCE, "run", "https://host0.example/0")["rounds"]
    assert [one["fetched"] for one in rounds] == [1, 3], "two rounds: the page and its links"


def test_several_urls_are_seeds_and_depth_says_how_many_rounds(crawlctl: Any) -> None:
    urls = ("https://host0.example/0", "https://host1.example/1")
    rounds = crawlctl.json(*ONCE, "run", *urls, "--depth", "2")["rounds"]
    assert (len(rounds), rounds[0]["fetched"]) == (3, 2)


def test_a_url_with_a_folder_is_told_how_to_stay_in_it(
    crawlctl: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "staying on host0.example; to stay below /a/b/ add --include 'https://host0.example/a/b/*'"
    assert run([*ONCE, "run", "https://host0.example/a/b/0", "--iterations", "1"]) == 0
    assert line in capsys.readouterr().err
    include = ("--include", "https://host0.example/a/*", "--include", "domain:other.example")
    assert run([*ONCE, "run", "https://host0.example/a/b/0", *include]) == 0
    assert "staying" not in capsys.readouterr().err


def test_a_host_without_a_scheme_is_read_as_https(crawlctl: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ONCE, "run", "host0.com/0", "--iterations", "1"]) == 0
    assert "host0.com/0 is read as https://host0.com/0\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["seed.txt"], "seed.txt is not a URL; write `--seed seed.txt` if it is a file of URLs"),
        (["missing.txt"], "missing.txt is not a URL"),
        (["--seed", "http://a.org/"], "a file of URLs is wanted here, not a URL; `crawlctl run URL`"),
        (["ftp://a.org/"], "the scheme ftp is not crawled"),
        (["a.org:8000/"], "the scheme is not clear; write http:// or https:// before it"),
        (["localhost:8000"], "the scheme is not clear"),
        (
            ["http://a.org/", "htp://b", "http://["],
            "command line: 2 problems; nothing was added: argument 2: ",
        ),
        (
            ["https://a.org/", "--include", "https://b.org/*"],
            "matches no rule of scope.include (https://b.org/*)",
        ),
        (
            ["https://a.org/x", "--exclude", "*.b.org", "--exclude", "a.org/x*"],
            "scope.exclude: the rule a.org/x*",
        ),
        (
            ["--seed", "outside.txt", "--exclude", "b.org"],
            "outside.txt: 1 problem; nothing was added: line 2: ",
        ),
    ],
)
def test_a_bad_seed_or_one_outside_the_scope_starts_nothing(
    words: list[str], message: str, crawlctl: Any
) -> None:
    Path("outside.txt").write_text("https://a.org/\nhttps://b.org/\n")
    assert message in crawlctl("run", *words, code=2)
    assert not Path("crawl").exists()


def test_the_flags_of_wget_are_settings(crawlctl: Any) -> None:
    flags = (
        "--delay",
        "2s",
        "--proxy",
        "http://anna:s3cret@p.example:3128",
        "--pages",
        "5",
        "--time",
        "10min",
    )
    assert "rule" in crawlctl("run", "https://a.org/", *flags, "--include", "rule", "--depth", "1", code=2)
    assert "s3cret" not in crawlctl("run", "https://a.org/", "--proxy", "http://anna:s3cret@", code=2)


def test_without_a_contact_the_error_says_what_to_type_and_nothing_is_made(
    crawlctl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CRAWLCTL_FETCH_CONTACT")
    assert "add --contact mailto:you@example.org, or put " in crawlctl("run", "https://a.org/", code=2)
    assert not Path("crawl").exists()
    crawlctl(*ONCE, "run", "https://host0.example/0", "--contact", "mailto:me@example.org")


@pytest.mark.slow
def test_rounds_are_printed_as_json(crawlctl: Any) -> None:
    reports = crawlctl.json(*ONCE, "run", "--seed", "seed.txt", "--iterations", "2")["rounds"]
    assert [(report["round"], report["fetched"]) for report in reports] == [(1, 1), (2, 3)]
    assert crawlctl.json(*ONCE, "run", "--pages", "1000")["rounds"][0]["round"] == 3
    crawlctl(*ONCE, "run", "--until-empty")
    assert crawlctl.json(*ONCE, "run")["rounds"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "minutes"),
    [
        (["--iterations", "4"], [1, 2, 4, 5]),
        (["--iterations", "2"], [1, 5]),
        (["--iterations", "2", "--time", "30min"], [30, 30]),
    ],
)
def test_rounds_end_after_some_minutes_so_that_their_pages_can_be_searched(
    crawlctl: Any, monkeypatch: pytest.MonkeyPatch, options: list[str], minutes: list[int]
) -> None:
    from crawlctl.pipeline.crawl import rounds
    from crawlctl.pipeline.crawl.round_plan import plan_round

    planned: list[Any] = []

    def noted(*arguments: Any, **named: Any) -> Any:
        planned.append(plan_round(*arguments, **named))
        return planned[-1]

    monkeypatch.setattr(rounds, "plan_round", noted)
    crawlctl(*ONCE, "run", "--seed", "seed.txt", *options)
    assert [one.fetch_time / 60 for one in planned] == minutes


def test_progress_goes_to_standard_error_as_lines(crawlctl: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ONCE, "run", "--seed", "seed.txt", "--runner", "inline"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("making a crawl of ")
    assert said[1:3] == ["injected 1 new URL", "round 1, fetch: 1 page"]
    assert any(line.startswith("round 1, merge: ") for line in said)


def test_a_busy_store_exits_with_75_and_prints_no_table(crawlctl: Any) -> None:
    crawlctl("run", "--seed", "seed.txt")
    with hold_lease(LocalStore(Path("crawl")), 60, "inject"):
        assert "in use by `crawlctl inject`" in crawlctl("run", code=75)


def test_without_a_crawl_the_error_names_run(crawlctl: Any) -> None:
    assert "crawlctl run https://… --store" in crawlctl("run", code=1)
    assert not Path("crawl").exists()


def test_a_bad_seed_file_starts_nothing(crawlctl: Any) -> None:
    Path("bad.txt").write_text("htp://nowhere/\n")
    assert "line 1" in crawlctl("run", "--seed", "bad.txt", code=2)
    assert not Path("crawl").exists()


def test_an_unknown_runner_is_a_usage_error(crawlctl: Any) -> None:
    assert "--runner" in crawlctl("run", "--runner", "slurm", code=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.integration)],
)
def test_a_signal_says_how_to_go_on(crawlctl: Any, tmp_path: Path, number: signal.Signals, code: int) -> None:
    process = stopped_after_saving(tmp_path, number, "--seed", "seed.txt", "--until-empty", "--json")
    assert process.returncode == code, process.stderr
    assert "run the same command to go on" in process.stderr.splitlines()[-1]
    report = json.loads(process.stdout)
    store = LocalStore(Path("crawl"))
    assert load_current(store).round == len(report["rounds"])
    assert report["open_round"]["pages"] > 0 and report["earlier"] == 0
    assert report["pages"]["new"] == report["open_round"]["pages"] + sum(
        one["fetched"] for one in report["rounds"]
    )
    assert report["next"] == "crawlctl run --until-empty"
    rest = crawlctl.json(*ONCE, "run", "--until-empty")
    assert rest["earlier"] == report["open_round"]["pages"]
    assert rest["pages"]["new"] + report["pages"]["new"] == PAGES
    assert crawlctl.json("status")["statuses"] == {"fetched": PAGES}


def stopped_after_saving(
    folder: Path, number: signal.Signals, *options: str, saved: int = 1
) -> subprocess.CompletedProcess[str]:
    """Start a run, and send it a signal when it has saved so many pages and fetches others."""
    log = folder / "log"
    log.touch()
    environment = {
        **os.environ,
        "FETCH_LOG": str(log),
        "PAGE_SECONDS": "0.3",
        "CRAWLCTL_RUNNER_NAME": "local",
    }
    command = [sys.executable, "-c", PROGRAM, str(JOBS), *ONCE, "run", *options]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and log.read_text().count("saved") < saved:
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.mark.slow
def test_an_interrupted_run_of_three_rounds_finishes_its_three(
    crawlctl: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped = stopped_after_saving(tmp_path, signal.SIGINT, "--seed", "seed.txt", "--iterations", "3")
    done = load_current(LocalStore(Path("crawl"))).round
    assert done in (0, 1, 2)
    left = 3 - done
    are_left = f"{left} of its 3 rounds {'is' if left == 1 else 'are'} left"
    assert f"next: crawlctl run --iterations 3 ({are_left})" in stopped.stdout.replace("\n ", "")
    assert f"round {done + 1} is not finished; " in stopped.stdout
    for again in (["--iterations", "3"], []):  # the same command, and a plain run
        store = shutil.copytree("crawl", f"again{len(again)}")
        assert crawlctl.json("status", "--store", store)["rounds_left"] == left
        assert run([*ONCE, "run", *again, "--json", "--store", store]) == 0
        said = capsys.readouterr()
        assert [one["round"] for one in json.loads(said.out)["rounds"]] == list(range(done + 1, 4))
        some = f"{left} of the 3 rounds of an interrupted run {'is' if left == 1 else 'are'} left"
        assert some in said.err
        assert crawlctl.json("status", "--store", store)["rounds_left"] == 0
    assert len(crawlctl.json(*ONCE, "run", "--iterations", "1", "--store", store)["rounds"]) <= 1


@pytest.mark.slow
def test_status_shows_what_a_running_round_has_saved(crawlctl: Any, tmp_path: Path) -> None:
    stopped_after_saving(tmp_path, signal.SIGINT, "--seed", "seed.txt", "--until-empty")
    assert "was begun and not finished, " in crawlctl("status")
    with hold_lease(LocalStore(Path("crawl")), 60, "run"):
        printed = crawlctl("status")
    (line,) = (line for line in printed.splitlines() if "saved so far" in line)
    assert line.startswith("round ") and " is being fetched, " in line
    assert "by crawlctl run, process " in printed


def test_gc_keeps_what_a_stopped_run_has_saved(crawlctl: Any, tmp_path: Path) -> None:
    crawlctl("run", "--seed", "seed.txt")
    store = LocalStore(Path("crawl"))
    snapshot = load_current(store)
    store.put(f"rounds/{snapshot.round + 1:08d}/fetch.json", b"")
    orphan = data_name(WEBDB, 0, snapshot.round)
    store.put(orphan, b"x")
    deleted = crawlctl.json("gc", "--keep", "1", "--min-age", "0")["files"]
    assert orphan in deleted
    assert f"rounds/{snapshot.round:08d}/fetch.json" in deleted
    assert f"rounds/{snapshot.round + 1:08d}/fetch.json" not in deleted


@pytest.mark.slow
def test_a_run_deletes_what_it_has_made_superfluous_and_keeps_where_it_began(
    crawlctl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEB_TEXTS", "yes")
    crawlctl(*ONCE, "run", "--seed", "seed.txt", "--iterations", "1")
    began = crawlctl.json("status")["snapshot"]
    crawlctl(*ONCE, "--set", "gc.min_age=0s", "run", "--iterations", "3")
    left = sorted(int(path.stem) for path in Path("crawl/snapshots").glob("*.json"))
    assert left == [began, crawlctl.json("status")["snapshot"] - 1, crawlctl.json("status")["snapshot"]]
    store = LocalStore(Path("crawl"))
    named = {entry.name for number in left for entry in load_snapshot(store, number).files}
    parts = {str(path.relative_to("crawl")) for path in Path("crawl/webdb").rglob("*") if path.is_file()}
    assert parts <= named
    assert "all sound" in crawlctl("check", "--snapshot", str(began), "--runner", "inline")


@pytest.mark.slow
def test_a_run_deletes_nothing_if_the_settings_say_so(crawlctl: Any) -> None:
    auto_off = ("--set", "gc.auto=false", "--set", "gc.min_age=0s")
    crawlctl(*ONCE, *auto_off, "run", "--seed", "seed.txt", "--iterations", "3")
    left = sorted(int(path.stem) for path in Path("crawl/snapshots").glob("*.json"))
    assert left == list(range(1, crawlctl.json("status")["snapshot"] + 1))
