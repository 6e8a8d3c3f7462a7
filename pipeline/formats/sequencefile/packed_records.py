"""Records that come as numpy arrays, packed for a block without becoming Python objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.sequencefile.writables import Column, PackedStrings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.formats.sequencefile.block_body import Layout


class PackedRecords:
    """Many records, packed at once into the form that blocks have; any slice of them makes a block."""

    def __init__(self, layout: Layout, keys: ByteStrings, values: ByteStrings) -> None:
        self._columns = PackedStrings(layout.key, keys), PackedStrings(layout.value, values)

    def sections(self, start: int, stop: int) -> tuple[bytes, ...]:
        """Return the four sections of a block with the records [start, stop)."""
        keys, values = self._columns
        return keys.sections(start, stop) + values.sections(start, stop)


class PendingBlock:
    """The packed records of a block that is not full yet."""

    def __init__(self) -> None:
        self.first_key = b""
        self.count = 0
        self._added: list[Sequence[bytes]] = []

    def add(self, first_key: bytes, count: int, sections: Sequence[bytes]) -> None:
        """Add records in the form of the four sections of a block."""
        if not self.count:
            self.first_key = first_key
        self.count += count
        self._added.append(sections)

    def sections(self) -> tuple[bytes, ...]:
        """Return the four sections of a block with all records."""
        if len(self._added) == 1:
            return tuple(self._added[0])
        joined: Iterable[bytes] = map(b"".join, zip(*self._added, strict=True))
        return tuple(joined)

    def unpacked(self, layout: Layout) -> tuple[list[bytes], list[bytes]]:
        """Return the keys and the values as Python objects."""
        key_lengths, keys, value_lengths, values = self.sections()
        return (
            Column(layout.key, key_lengths, keys).take(self.count),
            Column(layout.value, value_lengths, values).take(self.count),
        )
