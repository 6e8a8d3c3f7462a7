"""A crawl of the demo web that is copied half-way goes on as it would have, in other partitions too."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.demo.web import demo_web
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.part import scan
from crawlctl.pipeline.webdb.records import Status
from crawlctl.tests.few_packages import FEW_PACKAGES
from crawlctl.tests.pipeline.index.merge.reading import records_of

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.webdb.records import WebEntry

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

# No budget is reached, so that a round fetches all that is known.
CRAWL_YAML = """
partitions: 3
fetch: {contact: test@example.org, allowed_networks: [127.0.0.0/8]}
politeness: {delay: 0, response_factor: 0, connections_per_host: 4, patience: 1s}
scope: {max_new_urls_per_page: 100000}
"""
TIMES = {"next_due", "first_seen", "last_tried", "last_fetched", "last_changed"}
# The scores that a ranking gives depend on the order of sums in their last digits.
LEFT_OUT = {*TIMES, "score"}
# Of equal pages the one that leads is found among those of a partition.
BY_PARTITION = {Status.DUPLICATE, Status.FETCHED, Status.UNCHANGED}


def crawlctl(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "crawlctl.cli", *arguments]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr


def webdb(store: LocalStore) -> dict[str, WebEntry]:
    snapshot = load_current(store)
    return {
        url: entry for number in range(snapshot.partitions) for url, entry in scan(store, snapshot, number)
    }


def fields(entry: WebEntry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in entry.__struct_fields__ if name not in LEFT_OUT}


def signatures(store: LocalStore) -> set[bytes]:
    return {record.signature for record in records_of(store, load_current(store).files).values()}


def test_a_round_on_the_copy_is_like_one_on_the_original(tmp_path: Path) -> None:
    (tmp_path / "crawl.yaml").write_text(CRAWL_YAML)
    stores = {name: LocalStore(tmp_path / name) for name in ("original", "copy")}
    with demo_web(packages=FEW_PACKAGES) as web:
        (tmp_path / "seeds.txt").write_text("".join(f"{url}\n" for url in web.seeds))
        crawlctl(tmp_path, "run", "--seed", "seeds.txt", "--iterations", "1", "--store", "original")
        crawlctl(tmp_path, "copy", "original", "copy", "--partitions", "5")
        before = webdb(stores["original"])
        assert webdb(stores["copy"]) == before
        for name in stores:
            crawlctl(tmp_path, "run", "--iterations", "1", "--store", name)
    original, copy = (webdb(store) for store in stores.values())
    assert {url for url, entry in original.items() if entry != before.get(url)}
    tried = [{u for u, e in found.items() if e.last_tried} for found in (original, copy)]
    assert tried[0] == tried[1], "the same pages were due"
    assert original.keys() == copy.keys()
    different = {url for url in original if fields(original[url]) != fields(copy[url])}
    assert all({original[url].status, copy[url].status} <= BY_PARTITION for url in different)
    assert len(different) < len(original) / 20
    assert signatures(stores["original"]) == signatures(stores["copy"])
