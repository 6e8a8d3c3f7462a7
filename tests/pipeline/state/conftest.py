"""The state of a crawl is tested on every kind of store, with the fixtures of the stores' tests."""

from __future__ import annotations

from crawlctl.tests.pipeline.store.conftest import (
    _environment_of_servers,
    hdfs_uri,
    moto_endpoint,
    moto_server,
    new_s3_store,
    proxies,
    proxy,
    pytest_generate_tests,
    s3_endpoint,
    shared_clients,
    start_racers,
    store,
    versitygw_endpoint,
)

__all__ = [
    "_environment_of_servers",
    "hdfs_uri",
    "moto_endpoint",
    "moto_server",
    "new_s3_store",
    "proxies",
    "proxy",
    "pytest_generate_tests",
    "s3_endpoint",
    "shared_clients",
    "start_racers",
    "store",
    "versitygw_endpoint",
]
