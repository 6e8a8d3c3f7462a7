from __future__ import annotations

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.fetch.order import FetchOrder, decode_order, encode_order, plain_config
from crawlctl.tests.pipeline.fetch.crawl import settings

ORDER = FetchOrder(
    store="s3://bucket/crawl",
    snapshot=41,
    round=7,
    partition=3,
    partitions=8,
    deadline=1.8e9,
    max_pages=1000,
    max_bytes=1 << 30,
    seed_hosts=("a", "b:8080"),
)


def test_an_order_is_one_line_and_comes_back_as_it_was() -> None:
    config = settings(recrawl={"hosts": {"*.example.org": {"minimum": "15m"}}})
    order = replace(ORDER, config=plain_config(config))
    line = encode_order(order)
    assert b"\n" not in line and b"\t" not in line
    assert replace(decode_order(line), config={}) == ORDER
    assert decode_order(line + b"\t").settings() == config  # as Hadoop Streaming may hand it over


def test_an_order_without_settings_means_the_defaults() -> None:
    assert ORDER.settings() == Config()


@pytest.mark.parametrize("line", [b"", b"{}", b'{"store": 3}', b"\xff"])
def test_other_lines_are_refused(line: bytes) -> None:
    with pytest.raises(ConfigError, match="crawlctl run"):
        decode_order(line)


def test_settings_that_are_none_are_refused() -> None:
    with pytest.raises(ConfigError, match="start the round again"):
        decode_order(
            encode_order(ORDER).replace(b'"config":{}', b'"config":{"fetch":{"agent":3}}')
        ).settings()
