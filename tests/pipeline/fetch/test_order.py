from __future__ import annotations

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.orders import decode_order, encode_order
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
    order = replace(ORDER, config=config)
    line = encode_order(order)
    assert b"\n" not in line and b"\t" not in line
    assert decode_order(line, FetchOrder) == order
    assert decode_order(line + b"\t", FetchOrder).config == config  # as Hadoop Streaming may hand it over


def test_an_order_without_settings_means_the_defaults() -> None:
    assert ORDER.config == Config()


@pytest.mark.parametrize("line", [b"", b"{}", b'{"store": 3}', b"\xff"])
def test_other_lines_are_refused(line: bytes) -> None:
    with pytest.raises(ConfigError, match="crawlctl run"):
        decode_order(line, FetchOrder)


def test_settings_that_are_none_are_refused() -> None:
    line = encode_order(ORDER)
    broken = line.replace(b'"agent":"', b'"agent":3,"contact":"')
    assert broken != line
    with pytest.raises(ConfigError, match=r"config\.fetch\.agent.*crawlctl run"):
        decode_order(broken, FetchOrder)
