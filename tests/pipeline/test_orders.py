from __future__ import annotations

from typing import ClassVar

import pytest

from crawlctl.pipeline.config.units import Size
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.orders import StoreOrder, TaskOrder, decode_order, encode_order


class Baking(StoreOrder, frozen=True, kw_only=True):
    command: ClassVar[str] = "crawlctl bake"

    loaves: int
    memory: Size = Size(1 << 20)


class Loaf(TaskOrder, frozen=True, array_like=True):
    number: int


def test_an_order_is_one_line_and_comes_back_as_it_was() -> None:
    order = Baking(store="s3://bucket/crawl", loaves=3, memory=Size(5 << 20))
    assert b"\n" not in encode_order(order)
    assert decode_order(encode_order(order), Baking) == order
    assert decode_order(encode_order(Loaf(7)) + b"\t", Loaf) == Loaf(7)  # as Hadoop Streaming may pass it


UNKNOWN_FIELD = b'{"store":"s","loaves":1,"new":2}'
NO_SIZE = b'{"store":"s","loaves":1,"memory":"x"}'


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b"[7]", UNKNOWN_FIELD, NO_SIZE])
def test_the_error_names_the_order_and_the_command_that_writes_it(data: bytes) -> None:
    with pytest.raises(ConfigError, match=r"Baking.*`crawlctl bake`"):
        decode_order(data, Baking)
