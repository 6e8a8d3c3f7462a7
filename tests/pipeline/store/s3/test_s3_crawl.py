"""Rounds on a real S3 server: a crawl that is killed there and resumed ends like one on a local disk."""

from __future__ import annotations

import os
import signal
import time
import uuid
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.demo.web import demo_web
from crawlctl.pipeline.errors import NotACrawl
from crawlctl.pipeline.fetch.save.adoption import adopt_runs
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.open import open_store
from crawlctl.tests.few_packages import FEW_PACKAGES
from crawlctl.tests.pipeline.store.flaky_proxy import FlakyProxy
from crawlctl.tests.pipeline.store.small_crawl import CRAWL_YAML, finish, query, start, webdb

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.store.base import Store

BUCKET = "crawlctl-test"


def saved(store: Store) -> int:
    """Return how many pages of the second round are saved, which is not yet committed."""
    try:
        snapshot = load_current(store)
    except NotACrawl:
        return 0
    if snapshot.round != 1:
        return 0
    return sum(len(adopt_runs(store, 2, partition).done) for partition in range(snapshot.partitions))


@pytest.mark.integration
@pytest.mark.timeout(600)
@pytest.mark.parametrize("s3_endpoint", ["versitygw"], indirect=True)
def test_a_whole_run_and_a_query_on_s3_end_like_on_disk_and_nothing_is_copied_or_overwritten(
    s3_endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = FlakyProxy(s3_endpoint)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", proxy.endpoint)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "crawl.yaml").write_text(CRAWL_YAML)
    remote = f"s3://{BUCKET}/{uuid.uuid4().hex}"
    with demo_web(packages=FEW_PACKAGES) as web:
        (tmp_path / "seeds.txt").write_text("".join(f"{url}\n" for url in web.seeds))
        for store in ("crawl", remote):
            finish(start(tmp_path, store, 1))
    written = [
        headers
        for request, headers in zip(proxy.requests, proxy.headers, strict=True)
        if request.startswith("PUT ") and "partNumber=" not in request
    ]
    assert len(written) > 20
    assert {headers.get("if-none-match") for headers in written} == {"*"}
    assert not [headers for headers in proxy.headers if "x-amz-copy-source" in headers]
    assert webdb(open_store(remote)) == webdb(open_store(str(tmp_path / "crawl")))
    found = query(tmp_path, remote)
    assert found
    assert found == query(tmp_path, "crawl")
    proxy.close()


@pytest.mark.integration
@pytest.mark.timeout(600)
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
