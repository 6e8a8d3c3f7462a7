"""A crawl on Hadoop, as it is shipped and set up by default, is the crawl of a laptop."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.store.open import open_store
from crawlctl.tests.comparison import assert_same, crawled
from crawlctl.tests.hadoop.crawls import Crawl

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.demo.web import DemoWeb

pytestmark = [pytest.mark.integration, pytest.mark.hadoop, pytest.mark.timeout(3600)]


def test_a_crawl_on_hadoop_with_its_store_on_hdfs_is_the_crawl_of_a_laptop(
    client: dict[str, str],
    web: DemoWeb,
    laptop: Crawl,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing but the runner is named: tasks run in the environment that is packed and shipped."""
    store = f"hdfs:///tests/crawl/{uuid.uuid4().hex}"
    crawl = Crawl.prepare(tmp_path / "crawl", store, web.seeds, {"name": "hadoop"}, client)
    crawl.finish()
    monkeypatch.setenv("HADOOP_CONF_DIR", client["HADOOP_CONF_DIR"])
    assert_same(crawled(open_store(store)), crawled(open_store(laptop.store)))
    assert crawl.answer("json") == laptop.answer("json")
