"""A round and a query with the crawl on a real HDFS and the jobs on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.demo.web import demo_web
from crawlctl.pipeline.store.open import open_store
from crawlctl.tests.pipeline.store.small_crawl import CRAWL_YAML, finish, query, start, webdb

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.integration
@pytest.mark.hadoop
@pytest.mark.timeout(600)
def test_a_whole_run_and_a_query_on_hdfs_end_like_on_disk(
    hdfs_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "crawl.yaml").write_text(CRAWL_YAML)
    with demo_web() as web:
        (tmp_path / "seeds.txt").write_text("".join(f"{url}\n" for url in web.seeds))
        for store in ("crawl", hdfs_uri):
            finish(start(tmp_path, store, 1))
    remote, local = open_store(hdfs_uri), open_store(str(tmp_path / "crawl"))
    assert webdb(remote) == webdb(local)
    found = query(tmp_path, hdfs_uri)
    assert found
    assert found == query(tmp_path, "crawl")
