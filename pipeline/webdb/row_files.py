"""SequenceFiles of a key and a packed value: what a round has heard (fresh, outcomes) and the host table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.state.layout import KIND_KEY, data_name
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.merge.join import Rows


def write_table(
    store: Store, kind: str, blocks: Iterable[Rows], *, partition: int, round_number: int
) -> FileEntry:
    """Write keys and values, sorted where the kind asks for it, as one file."""
    with (
        store.write(data_name(kind, partition, round_number)) as sink,
        SequenceFileWriter(sink, metadata={KIND_KEY: kind}) as table,
    ):
        for keys, values in blocks:
            table.extend(keys, values)
    return FileEntry(kind, partition, sink.name, sink.bytes, table.records, sink.checksum)


def open_table(store: Store, entry: FileEntry) -> SequenceFileReader:
    """Return a file for reading; one that was cut off between two blocks would read as a shorter one."""
    source = store.open(entry.name)
    if source.size != entry.bytes:
        raise CorruptFile(source.name, source.size, f"it has {source.size} bytes and had {entry.bytes}")
    return SequenceFileReader(source)
