"""`crawlctl status --watch`, and what `crawlctl status` says about a running or a dead command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.state.leases.lease import Lease
from crawlctl.pipeline.state.live.live_status import LiveStatus, put_live
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.commands.conftest import Shell

SETTINGS = """
partitions: 1
fetch: {contact: a@example.org, allowed_networks: [127.0.0.0/8]}
politeness: {delay: 30s}
runner: {name: %s}
"""
CRAWLCTL = (sys.executable, "-m", "crawlctl.cli")
WATCH = (*CRAWLCTL, "status", "--watch", "--json")
PATIENCE = 60.0  # seconds; a second is enough on a machine with nothing else to do


@pytest.fixture
def crawl(shell: Shell) -> Shell:
    shell("init", "--partitions", "1")
    return shell


def status(done: int) -> LiveStatus:
    return LiveStatus(
        command="run", published=time.time(), every=1.0, step="fetch", unit="pages", done=done, total=9
    )


def test_without_a_command_the_watcher_says_so_and_what_to_type(crawl: Shell) -> None:
    said = crawl("status", "--watch")
    assert said == "no command is using the crawl now; start one with `crawlctl run`, then watch it\n"
    assert json.loads(crawl("status", "--watch", "--json")) == {"state": "idle", "status": None}


def test_without_a_crawl_or_with_two_reports_there_is_an_error(shell: Shell) -> None:
    assert "holds no crawl" in shell("status", "--watch", code=1)
    assert "give one of them" in shell("status", "--watch", "--history", code=2)


def test_the_status_has_a_line_about_a_running_command(crawl: Shell) -> None:
    store = LocalStore(Path("crawl"))
    lease = Lease(store, 60, "run")
    lease.acquire()
    assert crawl.json("status")["live"] is None
    put_live(store, 1, lease.owner, status(4))
    line = next(line for line in crawl("status").splitlines() if line.startswith("now "))
    assert "fetch 4/9 pages" in line
    found = crawl.json("status")
    assert (found["live"]["done"], found["has_died"]) == (4, False)
    lease.release()
    assert crawl.json("status")["live"] is None


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["inline", "local"])
def test_a_run_can_be_watched_and_its_death_is_seen(crawl: Shell, tmp_path: Path, runner: str) -> None:
    """The driver publishes, so it is the same where tasks are programs of their own."""
    (tmp_path / "crawl.yaml").write_text(SETTINGS % runner)
    with serving(1) as (site,):
        site.page("/", "/a", "/b")
        run = subprocess.Popen(
            [*CRAWLCTL, "run", site.url("/"), "--iterations", "2"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            _await_report_of_tasks(crawl)
            with subprocess.Popen(WATCH, stdout=subprocess.PIPE) as watcher:
                assert watcher.stdout is not None
                first = json.loads(watcher.stdout.readline())
                os.killpg(run.pid, signal.SIGKILL)
                run.wait(PATIENCE)
                last = json.loads(watcher.stdout.read().splitlines()[-1])
            assert watcher.returncode == 0
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
                run.wait(PATIENCE)
    assert (first["state"], first["status"]["command"]) == ("running", "run")
    assert first["status"]["step"] == "round 1, fetch" and first["status"]["hosts"]
    assert last["state"] == "died"
    assert "`crawlctl run` died at about " in crawl("status", "--watch")
    assert any(line.startswith("died ") for line in crawl("status").splitlines())


def _await_report_of_tasks(crawl: Shell) -> None:
    end = time.monotonic() + PATIENCE
    while not (live := crawl.json("status")["live"]) or live["is_silent"] or not live["hosts"]:
        assert time.monotonic() < end, "the run has published nothing about its hosts"
        time.sleep(0.05)
