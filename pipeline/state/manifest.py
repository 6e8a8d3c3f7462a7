"""The manifest: one line of JSON per file that a task has written.

It is the only output of a job besides the files themselves. Hadoop commits the output of exactly one attempt
of a task, so the manifest decides which files exist; no manifest names the files of other attempts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.store.file_names import check_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.writer import StoreWriter

# Limits far above the numbers of any sound file. A larger number means damage, and must be refused here,
# before it is formatted, summed or used as a count.
Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
Partitions = Annotated[int, msgspec.Meta(ge=1, le=100_000)]
Moment = Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]  # seconds since 1970, to the year 9999
Checksum = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
NOT_EMPTY = msgspec.Meta(min_length=1)


class FileEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One data file in a manifest or snapshot; the checksum is SHA-256 in hex."""

    kind: Annotated[str, NOT_EMPTY]
    partition: Count
    name: str
    bytes: Count
    records: Count
    checksum: Checksum
    counters: dict[str, int] = {}

    def __post_init__(self) -> None:
        check_name(self.name)


def file_entry(
    written: StoreWriter, kind: str, partition: int, records: int = 0, counters: dict[str, int] | None = None
) -> FileEntry:
    """Return the entry of a file that was just written; the index of a MapFile has no records of its own."""
    return FileEntry(kind, partition, written.name, written.bytes, records, written.checksum, counters or {})


def open_whole(store: Store, entry: FileEntry) -> RangedSource:
    """Open a file after a check of its size: an archive or table that was cut off may read without error."""
    source = store.open(entry.name)
    require_size(source, entry.bytes)
    return source


def require_size(source: RangedSource, size: int) -> None:
    """Raise CorruptFile unless a file has the size in bytes that its manifest says."""
    if source.size != size:
        raise CorruptFile(source.name, source.size, f"it has {source.size} bytes instead of {size}")


_encoder = msgspec.json.Encoder(order="deterministic")
_decoder = msgspec.json.Decoder(FileEntry)


def encode_entry(entry: FileEntry) -> bytes:
    """Return the line of a file, without an end of line."""
    return _encoder.encode(entry)


def decode_entry(line: bytes, name: str, offset: int = 0) -> FileEntry:
    """Return the entry on a line; errors name the place of the line by `name` and `offset`."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise CorruptFile(name, offset, f"not a line of a manifest: {err}") from err


def read_manifest(data: bytes, name: str) -> Iterator[FileEntry]:
    """Yield the entries of a manifest; errors call it `name`."""
    return decode_lines(data.splitlines(keepends=True), name)


def decode_lines(lines: Iterable[bytes], name: str) -> Iterator[FileEntry]:
    """Yield the entries on the lines of manifests, in their order."""
    offset = 0
    for line in lines:
        # Hadoop Streaming may add a TAB to a line without a value; JSON allows it.
        yield decode_entry(line, name, offset)
        offset += len(line)
