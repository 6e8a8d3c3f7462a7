"""Task orders: the JSON that tells a task what to do, and the functions that write and read it.

The order classes are in `order.py` of the folder that does the work. An order that is the same for all tasks
of a job reaches them as a file; an order for one map task is one line of the job's input. An order carries
all settings that its tasks need, because a task on a cluster sees neither the files nor the environment of
the user.
"""

from __future__ import annotations

from typing import ClassVar, TypeVar

import msgspec

from crawlctl.pipeline.config.units import decode_unit
from crawlctl.pipeline.errors import ConfigError

OrderT = TypeVar("OrderT", bound="TaskOrder")


class TaskOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The work of one task; `command` is the command that writes such orders."""

    command: ClassVar[str] = "crawlctl run"


class StoreOrder(TaskOrder, frozen=True, kw_only=True):
    """An order that names the store of the crawl, and where tasks report their progress."""

    store: str
    progress: str = ""  # a folder on the machine of the driver, see progress/task_file.py


def encode_order(order: TaskOrder) -> bytes:
    """Return an order as one line of JSON, without the end of line."""
    return msgspec.json.encode(order, enc_hook=str)


def decode_order(data: bytes | str, kind: type[OrderT]) -> OrderT:
    """Return the order of this kind that `encode_order` wrote."""
    try:
        return msgspec.json.decode(data, type=kind, dec_hook=decode_unit)
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise ConfigError(
            f"not a task order of the kind {kind.__name__}: {err}; start the job with `{kind.command}`"
        ) from err
