"""Queries by the command line, on real servers: what is asked of them, and in how many trips."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.store.open import open_store
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index
from crawlctl.tests.pipeline.store.conftest import BUCKET, HDFS, VERSITYGW
from crawlctl.tests.pipeline.store.flaky_proxy import FlakyHdfs, FlakyProxy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.pipeline.store.base import Store

pytestmark = pytest.mark.timeout(300)

DELAY = 0.3  # of every request, so that those sent together are seen together
PAGES = [
    Page(f"http://{host}.example/{number}", text=f"red tree number {number} of {host}", prior=1)
    for host in "abcdef"
    for number in range(40)
]
# Blocks of the dictionary, and meanwhile whether there is a newer snapshot; then lists; then pages to show.
TRIPS = {"s3": 2 + 1, "hdfs": 2 + 1 + 1}  # the first read of HDFS goes by the namenode


@pytest.fixture(params=[VERSITYGW, HDFS])
def indexed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Store:
    """A crawl with an index on a real server; the environment is that of whoever uses it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    if request.param == "versitygw":
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", request.getfixturevalue("versitygw_endpoint"))
        store = open_store(f"s3://{BUCKET}/{uuid.uuid4().hex}")
    else:
        store = open_store(request.getfixturevalue("hdfs_uri"))
    write_index(store, [PAGES[:100], PAGES[100:]])
    return store


@pytest.fixture
def proxy(
    indexed: Store, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[FlakyProxy]:
    if indexed.uri.startswith("s3://"):
        counting = FlakyProxy(os.environ["AWS_ENDPOINT_URL_S3"])
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", counting.endpoint)
    else:
        counting = FlakyHdfs(request.getfixturevalue("hadoop").webhdfs)
        monkeypatch.setenv("CRAWLCTL_WEBHDFS", counting.endpoint)
    yield counting
    counting.close()


def query(store: Store, *words: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "crawlctl.cli", "query", "--json", "--limit", "3", *words]
    done = subprocess.run(
        [*command, "--store", store.uri], capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr
    pages: list[dict[str, Any]] = json.loads(done.stdout)["pages"]
    return pages


def longest_chain(spans: list[tuple[float, float]]) -> int:
    """Return how many requests at most can have waited for each other: those that ended before one began."""
    chain, end = 0, 0.0
    for began, ended in sorted(spans, key=lambda span: span[1]):
        if began >= end:
            chain, end = chain + 1, ended
    return chain


def test_a_query_takes_two_trips_and_one_for_the_documents(indexed: Store, proxy: FlakyProxy) -> None:
    assert query(indexed, "AND", "red", "of")  # what every query needs is kept from now on
    proxy.plan()
    proxy.delay = DELAY
    hits = query(indexed, '"tree number"', "7")
    assert [hit["url"][-2:] for hit in hits] == ["/7"] * 3
    assert 0 < longest_chain(proxy.spans) <= TRIPS[indexed.uri.partition(":")[0]]
    assert len(proxy.spans) <= 14  # a block or two, two segments, and three documents
    proxy.plan()
    assert query(indexed, '"tree number"', "7") == hits
    assert len(proxy.spans) == 1  # whether there is a newer snapshot


def test_a_query_only_reads(indexed: Store, proxy: FlakyProxy) -> None:
    query(indexed, "red", "tree")
    assert {request.partition(" ")[0] for request in proxy.requests} == {"GET"}
