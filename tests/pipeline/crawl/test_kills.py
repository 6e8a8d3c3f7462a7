"""A crawl of the demo web that is killed again and again ends like one that nobody disturbed."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.demo.web import demo_web
from crawlctl.pipeline.errors import NotACrawl
from crawlctl.pipeline.fetch.save.adoption import adopt_runs
from crawlctl.pipeline.state.leases.lease_records import latest_record
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import url_of_key
from crawlctl.tests.comparison import assert_same, crawled, web_entries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.pipeline.demo.web import DemoWeb
    from crawlctl.pipeline.store.base import Store

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

# Kills by when they come: anywhere in the first two rounds, while most pages are fetched, in the last steps,
# of which there are not always enough for all of them. `make soak` kills 200 times.
EARLY, STEADY, LATE = 4, 10, 3
# What a budget leaves for the next round depends on what came first, so none is ever reached: a round fetches
# all that is known, and only the order within it is up to chance. Nor does a round follow what it finds, as
# it would on a slow machine: a page would pass on the score that it has by that time. Runs are small, so that
# most kills find some pages saved and others not.
CRAWL_YAML = """
partitions: 3
fetch: {{contact: test@example.org, allowed_networks: [127.0.0.0/8]}}
politeness: {{delay: 0, response_factor: 5, connections_per_host: 1, patience: 1s}}
scope: {{max_new_urls_per_page: 100000}}
round: {{flush_pages: 4, flush_time: 1s, follow_outlinks: false}}
runner: {{name: forked, tmp_dir: {scratch}}}
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("web") / "access.log"


@pytest.fixture(scope="module")
def web(log: Path) -> Iterator[DemoWeb]:
    with demo_web(access_log=log) as served:
        yield served


@pytest.fixture
def folder(web: DemoWeb, tmp_path: Path, scratch: Path) -> Path:
    (tmp_path / "crawl.yaml").write_text(CRAWL_YAML.format(scratch=json.dumps(str(scratch))))
    (tmp_path / "seeds.txt").write_text("".join(f"{url}\n" for url in web.seeds))
    return tmp_path


def start(folder: Path, store: str) -> subprocess.Popen[bytes]:
    run = [sys.executable, "-m", "crawlctl.cli", "run", "--until-empty", "--seed", "seeds.txt"]
    return subprocess.Popen(
        [*run, "--store", store],
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finish(folder: Path, store: str) -> None:
    """Let a run come to its end."""
    run = start(folder, store)
    complaints = run.communicate()[1]
    assert run.returncode == 0, complaints


def wait_for_lease(store: LocalStore, run: subprocess.Popen[bytes]) -> None:
    """Wait until a run is at work: to die while Python is still importing teaches nothing."""
    while run.poll() is None:
        _, record = latest_record(store)
        if record is not None and record.process.pid == run.pid:
            return
        time.sleep(0.01)


def wait_for_pages(store: LocalStore, run: subprocess.Popen[bytes], pages: float) -> None:
    """Wait until so many pages are saved; what is not saved counts for nothing, or a kill could undo it."""
    while run.poll() is None and len(saved(store)) < pages:
        time.sleep(0.1)


def saved(store: Store) -> set[str]:
    """Return the URLs that need not be asked for again: those of runs in the journal, and of the WebDB."""
    try:
        snapshot = load_current(store)
    except NotACrawl:  # the run has yet to make it
        return set()
    urls = {url for url, entry in web_entries(store, snapshot) if entry.last_tried}
    for partition in range(snapshot.partitions):
        urls.update(map(url_of_key, adopt_runs(store, snapshot.round + 1, partition).done))
    return urls


def asked(log: Path) -> list[str]:
    return [line.partition(" ")[2] for line in log.read_text().splitlines()]


def next_kill(number: int, known: int, pages: int, chance: random.Random) -> tuple[float, float]:
    """Return how many pages are to be saved before a kill, and how many seconds later it comes."""
    if number < EARLY:
        return 0, chance.uniform(0, 0.8)
    left = EARLY + STEADY - number
    if left > 0:
        return known + chance.uniform(0, 1.5) * max(0, 0.75 * pages - known) / left, chance.uniform(0, 0.1)
    return pages, chance.uniform(0, 1.5)


def test_a_crawl_that_is_killed_again_and_again_ends_like_one_that_is_not(
    web: DemoWeb, folder: Path, log: Path
) -> None:
    finish(folder, "whole")
    whole = crawled(LocalStore(folder / "whole"))
    store = LocalStore(folder / "killed")
    chance = random.Random(os.environ.get("KILL_SEED", "7"))
    known: set[str] = set()
    for number in range(EARLY + STEADY + LATE):
        pages, seconds = next_kill(number, len(known), web.pages, chance)
        before = len(asked(log))
        run = start(folder, "killed")
        wait_for_lease(store, run)
        wait_for_pages(store, run, pages)
        time.sleep(seconds)
        run.kill()  # its tasks are left to themselves, as when a machine runs out of memory
        run.communicate()
        assert known.isdisjoint(asked(log)[before:])
        known = saved(store)
        if run.returncode == 0:
            break
    assert number >= EARLY + STEADY, "the crawl was over before it was killed often enough"
    assert len(known) > web.pages / 2, "most pages were saved before the last kill"
    before = len(asked(log))
    finish(folder, "killed")
    assert known.isdisjoint(asked(log)[before:])
    assert_same(crawled(store), whole)
