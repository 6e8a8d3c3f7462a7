"""Files of flat arrays (formats/flat_arrays.py) in a store: what a ranking keeps there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.flat_arrays import FlatArrays, write_flat_arrays
from crawlctl.pipeline.state.kinds import GRAPH
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from crawlctl.pipeline.store.base import Store


def write_arrays(
    store: Store,
    arrays: Mapping[str, NDArray[Any]],
    *,
    partition: int,
    round_number: int,
    kind: str = GRAPH,
    suffix: str = "",
    records: int = 0,
    facts: Mapping[str, Any] | None = None,
    counters: Mapping[str, int] | None = None,
) -> FileEntry:
    """Write arrays as one new file; `facts` are kept in it as JSON, `counters` in its entry."""
    with store.write(data_name(kind, partition, round_number, suffix)) as sink:
        write_flat_arrays(sink, arrays, facts)
    return FileEntry(kind, partition, sink.name, sink.bytes, records, sink.checksum, dict(counters or {}))


class ArrayFile(FlatArrays):
    """Reads a file of arrays; a file that does not have the size in its manifest is a CorruptFile."""

    def __init__(self, store: Store, entry: FileEntry) -> None:
        stored = store.open(entry.name)
        name = store.locate(entry.name)
        if stored.size != entry.bytes:
            raise CorruptFile(name, stored.size, f"it has {stored.size} bytes instead of {entry.bytes}")
        super().__init__(stored, name)
