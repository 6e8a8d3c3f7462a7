"""Records that numpy held, packed and waiting for their block to be full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.sequencefile.writables import Column, PackedStrings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.formats.sequencefile.block_body import Layout


class PackedRecords:
    """Many records as blocks hold them, packed at once, of which any stretch may be taken."""

    def __init__(self, layout: Layout, keys: ByteStrings, values: ByteStrings) -> None:
        self._columns = PackedStrings(layout.key, keys), PackedStrings(layout.value, values)

    def part(self, start: int, stop: int) -> tuple[bytes, ...]:
        """Return the four parts of a block of the records from one on and below another."""
        keys, values = self._columns
        return keys.part(start, stop) + values.part(start, stop)


class PendingParts:
    """The beginning of a block."""

    def __init__(self) -> None:
        self.first_key = b""
        self.count = 0
        self._pieces: list[Sequence[bytes]] = []

    def add(self, first_key: bytes, count: int, parts: Sequence[bytes]) -> None:
        """Add records as the four parts of a block hold them."""
        if not self.count:
            self.first_key = first_key
        self.count += count
        self._pieces.append(parts)

    def parts(self) -> tuple[bytes, ...]:
        """Return the four parts of all records."""
        if len(self._pieces) == 1:
            return tuple(self._pieces[0])
        joined: Iterable[bytes] = map(b"".join, zip(*self._pieces, strict=True))
        return tuple(joined)

    def unpacked(self, layout: Layout) -> tuple[list[bytes], list[bytes]]:
        """Return the keys and the values."""
        key_lengths, keys, value_lengths, values = self.parts()
        return (
            Column(layout.key, key_lengths, keys).take(self.count),
            Column(layout.value, value_lengths, values).take(self.count),
        )
