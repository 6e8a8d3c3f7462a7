"""What the tasks of a copy in another number of partitions work from; it reaches them as a file of JSON."""

from __future__ import annotations

import msgspec

from crawlctl.pipeline.errors import ConfigError


class CopyOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is copied from where to where; a line of the input is the number of a new partition."""

    source: str
    destination: str
    snapshot: int
    partitions: int
    shards: int  # of the dictionary
    memory: int  # of a task
    progress: str = ""  # a folder, see progress/task_file.py


def copy_order(data: bytes) -> CopyOrder:
    """Return the order in a file."""
    try:
        return msgspec.json.decode(data, type=CopyOrder)
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise ConfigError(f"not the order of a copy: {err}; start it with `crawlctl copy`") from err
