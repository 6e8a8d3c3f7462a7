"""Rounds on a real S3 server: a crawl that is killed there and resumed ends like one on a local disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.demo.web import demo_web
from crawlctl.pipeline.errors import NotACrawl
from crawlctl.pipeline.fetch.adoption import adopt_runs
from crawlctl.pipeline.store.open import open_store
from crawlctl.pipeline.store.snapshots import load_current
from crawlctl.pipeline.webdb.part import scan

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.store.base import Store

BUCKET = "crawlctl-test"
# No budget is reached, so a round fetches all that is known; small runs leave something to be resumed.
CRAWL_YAML = """
partitions: 3
fetch: {contact: test@example.org, allowed_networks: [127.0.0.0/8]}
politeness: {delay: 0, response_factor: 0, connections_per_host: 1, patience: 1s}
scope: {max_new_urls_per_page: 100000}
round: {flush_pages: 8}
"""
TIMES = {"next_due", "first_seen", "last_tried", "last_fetched", "last_changed"}
SECONDS = 120


def start(folder: Path, store: str, rounds: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "crawlctl.cli", "run", "--seed", "seeds.txt"]
    return subprocess.Popen(
        [*command, "--iterations", str(rounds), "--store", store],
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finish(run: subprocess.Popen[bytes]) -> None:
    complaints = run.communicate(timeout=SECONDS)[1]
    assert run.returncode == 0, complaints


def saved(store: Store) -> int:
    """Return how many pages of the second round are saved, which is not yet committed."""
    try:
        snapshot = load_current(store)
    except NotACrawl:
        return 0
    if snapshot.round != 1:
        return 0
    return sum(len(adopt_runs(store, 2, partition).done) for partition in range(snapshot.partitions))


def webdb(store: Store) -> dict[str, dict[str, object]]:
    snapshot = load_current(store)
    return {
        url: {name: getattr(entry, name) for name in entry.__struct_fields__ if name not in TIMES}
        for partition in range(snapshot.partitions)
        for url, entry in scan(store, snapshot, partition)
    }


@pytest.mark.integration
@pytest.mark.timeout(240)
@pytest.mark.parametrize("s3_endpoint", ["versitygw"], indirect=True)
def test_a_crawl_that_is_killed_on_s3_and_resumed_ends_like_one_on_disk(
    s3_endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_endpoint)
    (tmp_path / "crawl.yaml").write_text(CRAWL_YAML)
    remote = open_store(f"s3://{BUCKET}/{uuid.uuid4().hex}")
    with demo_web() as web:
        (tmp_path / "seeds.txt").write_text("".join(f"{url}\n" for url in web.seeds))
        finish(start(tmp_path, "crawl", 2))
        run = start(tmp_path, remote.uri, 2)
        while run.poll() is None and not saved(remote):
            time.sleep(0.05)
        assert run.poll() is None, run.communicate()[1]
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        assert load_current(remote).round == 1
        before = saved(remote)
        finish(start(tmp_path, remote.uri, 1))
    local = open_store(str(tmp_path / "crawl"))
    assert load_current(remote).round == load_current(local).round == 2
    assert 0 < before < len(webdb(local))
    assert webdb(remote) == webdb(local)
