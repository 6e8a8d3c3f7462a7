"""The body of a SequenceFile without blocks.

Records are written one by one; either each value is compressed by itself, or none is.

    record = int length, int key length, key, value
    marker = int -1, sync

A marker stands before the first record that begins `sync_interval` bytes or more behind the last marker.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.block_body import Block

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.formats.sequencefile.block_body import Layout
    from crawlctl.pipeline.formats.window import Window

SYNC_INTERVAL = 100 << 10  # bytes, as in Hadoop; its early versions had 2,000

_LENGTHS = Struct(">ii")
_BATCH_RECORDS = 1024
_BATCH_BYTES = 1 << 20


class RecordEncoder:
    """Encodes records and puts in the markers; remembers the offset of the last one."""

    def __init__(self, layout: Layout, sync_interval: int) -> None:
        self._layout = layout
        self._sync_interval = sync_interval
        self._last_marker = 0

    def encode(self, keys: Sequence[bytes], values: Sequence[bytes], position: int) -> bytes:
        """Return the bytes of records to be stored at `position`.

        A record that is too large for readers is a ValueError.
        """
        layout = self._layout
        encoded: list[bytes] = []
        for key, value in zip(map(layout.key.encode, keys), map(layout.value.encode, values), strict=True):
            if len(key) + len(value) > layout.max_block_bytes:
                raise ValueError(
                    f"a record above {layout.max_block_bytes} bytes, where readers stop; split its value"
                )
            stored = layout.codec.compress(value)
            if position >= self._last_marker + self._sync_interval:
                encoded.append(layout.marker)
                position += len(layout.marker)
                self._last_marker = position
            encoded += (_LENGTHS.pack(len(key) + len(stored), len(key)), key, stored)
            position += _LENGTHS.size + len(key) + len(stored)
        return b"".join(encoded)


def read_records(layout: Layout, window: Window, position: int, stop: int) -> Iterator[Block]:
    """Yield the records that begin in [position, stop), in batches."""
    keys: list[bytes] = []
    values: list[bytes] = []
    offset, held = position, 0
    while position < min(stop, window.size):
        length, key_length = _LENGTHS.unpack(window.take(position, _LENGTHS.size))
        if length == -1:
            position = _pass_marker(layout, window, position)
            continue
        key, value = _read_record(layout, window, position, length, key_length)
        if not keys:
            offset = position
        keys.append(key)
        values.append(value)
        held += len(key) + len(value)
        position += _LENGTHS.size + length
        if held >= _BATCH_BYTES or len(keys) >= _BATCH_RECORDS:
            yield Block(offset, keys, values)
            keys, values, held = [], [], 0
    if keys:
        yield Block(offset, keys, values)


def _pass_marker(layout: Layout, window: Window, position: int) -> int:
    """Check the marker at `position` and return the offset behind it."""
    if window.take(position, len(layout.marker)) != layout.marker:
        raise CorruptFile(window.name, position, "a sync marker that is not this file's")
    return position + len(layout.marker)


def _read_record(
    layout: Layout, window: Window, position: int, length: int, key_length: int
) -> tuple[bytes, bytes]:
    if not 0 <= key_length <= length <= layout.max_stored_bytes:
        reason = (
            f"a record of {length} bytes, {key_length} of them key; the limit is {layout.max_stored_bytes}"
        )
        raise CorruptFile(window.name, position, reason)
    stored = window.take(position + _LENGTHS.size, length)
    try:
        value = layout.codec.decompress(stored[key_length:], max(0, layout.max_block_bytes - key_length))
        return layout.key.decode(bytes(stored[:key_length])), layout.value.decode(value)
    except ValueError as err:
        raise CorruptFile(window.name, position, str(err)) from err
