"""A crawl of the demo web that is killed again and again ends like one that nobody disturbed."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from crawlctl.pipeline.demo.web import demo_web
from crawlctl.pipeline.fetch.adoption import adopt_runs
from crawlctl.pipeline.index.files import runs_of
from crawlctl.pipeline.index.reader import RunReader
from crawlctl.pipeline.net.hosts import url_of_key
from crawlctl.pipeline.store.lease_records import latest_record
from crawlctl.pipeline.store.local import LocalStore
from crawlctl.pipeline.store.snapshots import load_current
from crawlctl.pipeline.webdb.part import scan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.pipeline.demo.web import DemoWeb
    from crawlctl.pipeline.store.snapshots import Snapshot

pytestmark = [pytest.mark.integration, pytest.mark.timeout(240)]

KILLS = 32
# Several rounds of several runs each, so that all steps get their share of the kills. What is found must not
# depend on which pages come first: no limit of new URLs, and the pages of a host one after the other.
CRAWL_YAML = """
partitions: 3
fetch: {{contact: test@example.org, allowed_networks: [127.0.0.0/8]}}
politeness: {{delay: 0, response_factor: 1, connections_per_host: 1, patience: 1s}}
scope: {{max_new_urls_per_page: 100000}}
round: {{max_pages: 60, flush_pages: 4, flush_time: 1s}}
runner: {{name: forked, tmp_dir: {scratch}}}
"""
TIMES = ("next_due", "first_seen", "last_tried", "last_fetched", "last_changed")


class Crawled(NamedTuple):
    """What a crawl has come to, without times and without how it was cut into runs."""

    webdb: dict[str, dict[str, object]]
    documents: dict[str, bytes]
    postings: dict[bytes, dict[str, int]]


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


def work_done(store: LocalStore, log: Path) -> int:
    """Return what grows in all steps of a run: the requests it made and the files it wrote."""
    return len(asked(log)) + sum(file.is_file() for file in store.root.rglob("*"))


def wait_for_work(store: LocalStore, log: Path, run: subprocess.Popen[bytes], amount: float) -> None:
    target = work_done(store, log) + amount
    while run.poll() is None and work_done(store, log) < target:
        time.sleep(0.005)


def saved(store: LocalStore) -> set[str]:
    """Return the URLs that need not be asked for again: those of runs in the journal, and of the WebDB."""
    snapshot = load_current(store)
    urls = {url for url, entry in entries(store, snapshot) if entry["last_tried"]}
    for partition in range(snapshot.partitions):
        urls.update(map(url_of_key, adopt_runs(store, snapshot.round + 1, partition).done))
    return urls


def entries(store: LocalStore, snapshot: Snapshot) -> Iterator[tuple[str, dict[str, object]]]:
    for partition in range(snapshot.partitions):
        for url, entry in scan(store, snapshot, partition):
            yield url, {name: getattr(entry, name) for name in entry.__struct_fields__}


def asked(log: Path) -> list[str]:
    return [line.partition(" ")[2] for line in log.read_text().splitlines()]


def crawled(store: LocalStore) -> Crawled:
    snapshot = load_current(store)
    webdb = {
        url: {name: value for name, value in entry.items() if name not in TIMES}
        for url, entry in entries(store, snapshot)
    }
    documents: dict[str, bytes] = {}
    postings: dict[bytes, dict[str, int]] = {}
    for files in runs_of(snapshot.files):
        run = RunReader(store, files)
        urls = {ordinal: record.url for ordinal, record in run.records()}
        assert documents.keys().isdisjoint(urls.values()), "a page was indexed twice"
        documents.update((record.url, record.signature) for _, record in run.records())
        for term, listed in run.lists():
            counts = zip(map(urls.__getitem__, listed.documents), listed.frequencies, strict=True)
            postings.setdefault(term, {}).update(counts)
    return Crawled(webdb, documents, postings)


def test_a_crawl_that_is_killed_again_and_again_ends_like_one_that_is_not(
    web: DemoWeb, folder: Path, log: Path
) -> None:
    finish(folder, "whole")
    whole = crawled(LocalStore(folder / "whole"))
    work = work_done(LocalStore(folder / "whole"), log)
    store = LocalStore(folder / "killed")
    chance = random.Random(os.environ.get("KILL_SEED", "7"))
    known: set[str] = set()
    for _ in range(KILLS):
        before = len(asked(log))
        run = start(folder, "killed")
        wait_for_lease(store, run)
        # What is lost by a kill is done again: the crawl is not over before the last one.
        wait_for_work(store, log, run, chance.uniform(0.0, 1.8 * work / KILLS))
        time.sleep(chance.uniform(0.0, 0.03))
        assert run.poll() is None, "the crawl was over before it was killed often enough"
        run.kill()  # its tasks are left to themselves, as when a machine runs out of memory
        run.communicate()
        assert known.isdisjoint(asked(log)[before:])
        known = saved(store)
    before = len(asked(log))
    finish(folder, "killed")
    assert known.isdisjoint(asked(log)[before:])
    assert len(known) > web.pages / 2, "most pages were saved before the last kill"
    again = crawled(store)
    assert again.webdb == whole.webdb
    assert again.documents == whole.documents
    assert again.postings == whole.postings
