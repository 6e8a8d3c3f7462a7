"""A web, its crawl on this machine by the forked runner, and what a client of the cluster needs."""

from __future__ import annotations

import os
import socket
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.demo.pages import SITES
from crawlctl.pipeline.demo.web import demo_web
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.open import open_store
from crawlctl.pipeline.urls.hosts import partition_of
from crawlctl.tests.comparison import web_entries
from crawlctl.tests.hadoop.crawls import PARTITIONS, Crawl
from crawlctl.tests.hadoop.sites import HOST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.demo.web import DemoWeb
    from crawlctl.tests.hadoop.cluster import Cluster

PORTS = range(20_000, 30_000)


@pytest.fixture(scope="session")
def web() -> Iterator[DemoWeb]:
    with demo_web(port=next(filter(is_free, filter(leaves_one_empty, PORTS)))) as served:
        yield served


def leaves_one_empty(port: int) -> bool:
    """Whether one partition has nothing to do, and the others more than the front page."""
    hosts = (f"{HOST}:{port + number}" for number in range(SITES))
    filled = Counter(partition_of(host, PARTITIONS) for host in hosts)
    return len(filled) == PARTITIONS - 1 and min(filled.values()) > 1


def is_free(port: int) -> bool:
    with ExitStack() as stack:
        try:
            for number in range(SITES):
                stack.enter_context(socket.socket()).bind((HOST, port + number))
        except OSError:
            return False
    return True


@pytest.fixture(scope="session")
def laptop(web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """The crawl by which those on the cluster are measured."""
    folder = tmp_path_factory.mktemp("laptop")
    crawl = Crawl.prepare(folder, str(folder / "crawl"), web.seeds, {"name": "forked"}, {})
    crawl.finish()
    return crawl


@pytest.fixture(scope="session")
def one_round(laptop: Crawl, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """The crawl of a laptop whose seeds are all pages: one round, since jobs of a cluster take their time."""
    store = open_store(laptop.store)
    pages = [url for url, _ in web_entries(store, load_current(store))]
    folder = tmp_path_factory.mktemp("one-round")
    crawl = Crawl.prepare(folder, str(folder / "crawl"), pages, {"name": "forked"}, {})
    crawl.finish()
    return crawl


@pytest.fixture(scope="session")
def client(hadoop: Cluster) -> dict[str, str]:
    """The environment of a machine on which the cluster's `hadoop` is installed."""
    home = Path(hadoop.hadoop_bin).parents[1]
    path = f"{home / 'bin'}:{os.environ['PATH']}"
    return {**hadoop.environment(), "HADOOP_HOME": str(home), "PATH": path}


@pytest.fixture(scope="session")
def s3_keys(hadoop: Cluster) -> dict[str, str]:
    """The environment of whoever uses the S3 server of the cluster."""
    if hadoop.s3 is None:
        pytest.skip("no S3 server: make versitygw, then make hadoop-stop hadoop")
    return {
        "AWS_ENDPOINT_URL_S3": hadoop.s3,
        "AWS_ACCESS_KEY_ID": hadoop.s3_access_key,
        "AWS_SECRET_ACCESS_KEY": hadoop.s3_secret_key,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
