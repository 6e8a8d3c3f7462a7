"""A run that was stopped for longer than its lease (a closed laptop) goes on, if no other run took it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.state.leases.lease import Lease
from crawlctl.pipeline.state.leases.lease_records import CLOCK_SKEW, latest_record
from crawlctl.pipeline.state.live.live_status import LiveStatus, put_live
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.part import scan
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.tests.pipeline.fetch.site import Site

pytestmark = pytest.mark.slow

PAGES = [f"/p{number:02}" for number in range(8)]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
SETTINGS = (
    "fetch.contact=a@example.org",
    "fetch.allowed_networks=[127.0.0.1]",
    "partitions=2",
    "politeness.delay=300ms",
    "politeness.response_factor=0",
    "lease.ttl=2s",
    "fetch.stall_time=2s",
    "round.flush_time=200ms",
    "rank.every=null",
)


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(1) as (one,):
        for path in PAGES:
            one.page(path)
        yield one


def command(*arguments: str) -> list[str]:
    fixed = [part for setting in SETTINGS for part in ("--set", setting)]
    return [sys.executable, "-m", "crawlctl.cli", *fixed, "run", *arguments]


@contextmanager
def running(folder: Path, site: Site) -> Iterator[subprocess.Popen[str]]:
    """A run in a process group of its own, which is stopped as soon as it has fetched two pages."""
    (folder / "seed.txt").write_text("".join(f"{site.url(path)}\n" for path in PAGES))
    with subprocess.Popen(
        command("--seed", "seed.txt"),
        cwd=folder,
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            until = time.monotonic() + 60
            while len(site.pages_asked()) < 3 and time.monotonic() < until and process.poll() is None:
                time.sleep(0.02)
            os.killpg(process.pid, signal.SIGSTOP)
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def go_on(process: subprocess.Popen[str]) -> tuple[int, str]:
    os.killpg(process.pid, signal.SIGCONT)
    said = process.communicate(timeout=60)[1]
    return process.returncode, said


def statuses(folder: Path) -> list[str]:
    store = LocalStore(folder / "crawl")
    snapshot = load_current(store)
    return [entry.status.name for number in range(2) for _, entry in scan(store, snapshot, number)]


def test_a_run_that_was_stopped_for_longer_than_its_lease_goes_on(tmp_path: Path, site: Site) -> None:
    with running(tmp_path, site) as process:
        time.sleep(4)  # longer than the lease and the time after which a silent process is replaced
        code, said = go_on(process)
    assert code == 0, said
    assert statuses(tmp_path) == ["FETCHED"] * len(PAGES)
    assert sorted(site.pages_asked()) == PAGES and "replaced" not in said and "failed" not in said


def test_status_does_not_call_a_suspended_run_dead(tmp_path: Path, site: Site) -> None:
    store = LocalStore(tmp_path / "crawl")
    with running(tmp_path, site) as process:
        _, held = latest_record(store)
        assert held is not None
        put_live(store, 99, held.owner, LiveStatus(command="run", published=held.acquired, every=1.0))
        late = held.expires + CLOCK_SKEW + 1
        program = f"import time; time.time = lambda: {late}; from crawlctl.cli import main; main()"
        asked = [sys.executable, "-c", program, "status"]
        told = subprocess.check_output(asked, cwd=tmp_path, env=ENVIRONMENT, text=True)
        assert go_on(process)[0] == 0
    assert "its process has not ended" in " ".join(told.split())
    assert "died" not in told


def test_a_run_whose_lease_was_taken_meanwhile_ends_and_keeps_what_it_saved(
    tmp_path: Path, site: Site
) -> None:
    store = LocalStore(tmp_path / "crawl")
    with running(tmp_path, site) as process:
        _, held = latest_record(store)
        assert held is not None
        other = Lease(store, 100.0, "run", lambda: held.expires + CLOCK_SKEW + 1)
        other.acquire()
        code, said = go_on(process)
    assert code == 75, said
    assert "this run no longer has the lease: another run has taken it; what was saved before is kept" in said
    assert load_current(store).round == 0
    other.release()
    subprocess.run(command(), cwd=tmp_path, env=ENVIRONMENT, check=True, capture_output=True)
    assert statuses(tmp_path) == ["FETCHED"] * len(PAGES)
    assert sorted(site.pages_asked()) == PAGES  # nothing was fetched twice
