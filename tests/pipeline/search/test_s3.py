"""A search straight from S3, as moto's server speaks it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.search.answer.find import find
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.store.s3.client import S3Settings
from crawlctl.pipeline.store.s3.store import S3Store
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def s3_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[S3Store]:
    from moto.server import ThreadedMotoServer

    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings = S3Settings(
        endpoint=f"http://{host}:{port}", region="us-east-1", access_key="key", secret_key="secret"
    )
    store = S3Store("crawls", "mine", settings)
    store.client().create_bucket(Bucket="crawls")
    yield store
    server.stop()


def test_a_query_is_answered_from_s3_and_again_from_the_cache(s3_store: S3Store) -> None:
    pages = [Page(f"http://{host}.example/", text=f"red tree {host}") for host in "abcdefghij"]
    write_index(s3_store, [pages[:6], pages[6:]])
    requests: list[str] = []
    s3_store.client().meta.events.register(
        "before-send.s3", lambda request, **_: requests.append(request.method)
    )
    counts = []
    for _ in range(2):
        index = open_index(s3_store)
        assert len(find(index, parse('"red tree" NOT b')).hits) == 9
        assert find(index, parse("* NOT b")).total == 9
        index.close()
        counts.append(len(requests))
    assert counts[1] - counts[0] == 1  # whether there is a newer snapshot
    assert set(requests) == {"GET"}  # opening a file asks for nothing
