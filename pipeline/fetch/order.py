"""The order a fetch task works from: one line of JSON, the only input of the task."""

from __future__ import annotations

from typing import Any

import msgspec

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.config.units import decode_unit
from crawlctl.pipeline.errors import ConfigError


class FetchOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What one partition is to fetch in one round, and within which bounds.

    The configuration goes along because a task on a cluster sees neither the files nor the environment of
    whoever started it.
    """

    store: str
    snapshot: int
    round: int
    partition: int
    partitions: int
    deadline: float  # seconds since 1970
    max_pages: int
    max_bytes: int
    config: dict[str, Any] = {}
    # Of all partitions; they bound the crawl where no include rule does. None: the task looks them up.
    seed_hosts: tuple[str, ...] | None = None
    progress: str = ""  # a folder of the driver's machine, see progress/task_file.py
    tasks: int = 1  # of the round, this one included
    tail: float | None = None  # seconds that idle tasks wait for slow hosts; None: as long as the round lasts

    def settings(self) -> Config:
        """Return the configuration the order carries."""
        try:
            return msgspec.convert(self.config, Config, dec_hook=decode_unit)
        except (msgspec.ValidationError, ValueError) as err:
            raise ConfigError(f"the configuration in a fetch order: {err}; start the round again") from err


_decoder = msgspec.json.Decoder(FetchOrder)


def plain_config(config: Config) -> dict[str, Any]:
    """Return a configuration as an order carries it."""
    plain: dict[str, Any] = msgspec.to_builtins(config, enc_hook=str)
    return plain


def encode_order(order: FetchOrder) -> bytes:
    """Return the line of an order, without an end of line."""
    return msgspec.json.encode(order)


def decode_order(line: bytes | str) -> FetchOrder:
    """Return the order on a line."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise ConfigError(f"a line is no fetch order: {err}; start the round with `crawlctl run`") from err
