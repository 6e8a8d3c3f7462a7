"""`crawlctl status --watch` follows a run on S3 or HDFS from a process that shares only the store with it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.state.live.live_status import look
from crawlctl.pipeline.store.open import open_store
from crawlctl.tests.pipeline.fetch.site import serving
from crawlctl.tests.pipeline.store.conftest import BUCKET, HDFS, VERSITYGW
from crawlctl.tests.pipeline.store.small_crawl import start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.pipeline.state.live.live_status import LiveView
    from crawlctl.pipeline.store.base import Store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SETTINGS = """
partitions: 1
fetch: {contact: test@example.org, allowed_networks: [127.0.0.0/8]}
politeness: {delay: 30s}
"""
PATIENCE = 120.0  # seconds; a remote status comes every ten seconds
CTRL_C = 130


@pytest.fixture(params=["moto", VERSITYGW, HDFS])
def remote(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A place on a server; the environment of both commands names the server."""
    if request.param == "hdfs":
        return open_store(str(request.getfixturevalue("hdfs_uri")))
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", request.getfixturevalue(f"{request.param}_endpoint"))
    return open_store(f"s3://{BUCKET}/{uuid.uuid4().hex}")


def test_a_run_is_watched_from_another_folder_until_it_has_ended(remote: Store, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    with serving(1) as (site,):
        site.page("/", "/a", "/b")
        with running(ours, remote, site.url()) as run:
            await_hosts(remote, run)
            with watching(theirs, remote) as watcher:
                assert watcher.stdout is not None
                first = json.loads(watcher.stdout.readline())
                run.send_signal(signal.SIGINT)
                assert run.wait(PATIENCE) == CTRL_C
                last = json.loads(watcher.stdout.read().splitlines()[-1])
    assert (first["state"], first["status"]["command"]) == ("running", "run")
    assert first["status"]["hosts"][0]["host"] == site.host
    assert last == {"state": "ended", "status": None}
    assert list(remote.list("live/")) == [], "the status of a command that has ended is gone"


@contextmanager
def running(folder: Path, store: Store, seed: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a crawl of two rounds while the block runs."""
    folder.mkdir()
    (folder / "crawl.yaml").write_text(SETTINGS)
    (folder / "seeds.txt").write_text(f"{seed}\n")
    run = start(folder, store.uri, 2)
    try:
        yield run
    finally:
        run.kill()
        run.communicate()


@contextmanager
def watching(folder: Path, store: Store) -> Iterator[subprocess.Popen[bytes]]:
    """Watch a crawl from a folder without settings while the block runs."""
    folder.mkdir()
    command = [sys.executable, "-m", "crawlctl.cli", "status", "--watch", "--json", "--store", store.uri]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE) as watcher:
        try:
            yield watcher
        finally:
            watcher.kill()


def await_hosts(store: Store, run: subprocess.Popen[bytes]) -> None:
    """Wait until a run has published a status with its hosts."""
    end = time.monotonic() + PATIENCE
    while not has_hosts(look(store, time.time())):
        assert run.poll() is None, run.communicate()[1]
        assert time.monotonic() < end, "the run has published nothing about its hosts"
        time.sleep(0.2)


def has_hosts(view: LiveView) -> bool:
    return view.status is not None and bool(view.status.hosts)
