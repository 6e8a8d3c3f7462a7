"""A client of the server, without any network, over one crawl for all tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from crawlctl.pipeline.serve.served_crawl import ServedCrawl, ServeOptions
from crawlctl.pipeline.serve.web_app import app_of
from crawlctl.tests.pipeline.serve.served_web import write_web

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.store.local.store import LocalStore


@pytest.fixture(scope="session")
def web_store(tmp_path_factory: pytest.TempPathFactory) -> LocalStore:
    """The store of the crawl; no test may change it."""
    return write_web(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def served(web_store: LocalStore) -> ServedCrawl:
    options = ServeOptions(web_store.uri, ("search.example",), ("https://friend.example",))
    return ServedCrawl(options)


@pytest.fixture(scope="session")
def client(served: ServedCrawl) -> Iterator[TestClient]:
    with TestClient(app_of(served), "http://localhost", follow_redirects=False) as client:
        yield client
