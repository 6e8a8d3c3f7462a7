"""Writes damaged files again with their sound content: parts of the WebDB, archives, and captures."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.capture_record import decode_captures
from crawlctl.pipeline.captures.capture_table import write_captures
from crawlctl.pipeline.errors import CorruptFile, MissingFile
from crawlctl.pipeline.formats.sequencefile.sound_blocks import sound_blocks
from crawlctl.pipeline.formats.warc.sound_records import sound_records
from crawlctl.pipeline.state.kinds import CAPTURES, PAGES, WEBDB
from crawlctl.pipeline.state.layout import DATA, data_name, round_of
from crawlctl.pipeline.state.manifest import file_entry
from crawlctl.pipeline.webdb.layers.layer import layers_of
from crawlctl.pipeline.webdb.layers.overlay import overlaid
from crawlctl.pipeline.webdb.part import write_part

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from crawlctl.pipeline.captures.capture_table import Row
    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import Rows

_SUFFIX = ".warc.gz"


def salvage(store: Store, snapshot: Snapshot, partition: int, names: Collection[str]) -> list[FileEntry]:
    """Write the sound content of damaged files of the WebDB, the archive and the captures to new files.

    `names` are the damaged and missing files. A missing archive gets no new file.
    """
    written: list[FileEntry] = []
    for entry in snapshot.files_of(PAGES, partition):
        if entry.name in names:
            written += _salvage_archive(store, entry)
    part = snapshot.files_of(WEBDB, partition)
    if any(entry.name in names for entry in part):
        written += _salvage_part(store, part, snapshot.round)
    for entry in snapshot.files_of(CAPTURES, partition):
        folder = entry.name.rpartition("/")[0]
        if entry.name.endswith(f"/{DATA}") and any(name.startswith(f"{folder}/") for name in names):
            written += _salvage_captures(store, entry, snapshot.round)
    return written


def _salvage_captures(store: Store, data: FileEntry, round_number: int) -> tuple[FileEntry, ...]:
    source = _opened(store, data)
    found = () if source is None else _rising(source)
    blocks = ((block.keys, block.values) for block in found)
    return write_captures(store, _sound_rows(blocks), partition=data.partition, round_number=round_number)


def _sound_rows(blocks: Iterable[Rows]) -> Iterator[Row]:
    for keys, values in blocks:
        for key, value in zip(keys, values, strict=True):
            with suppress(CorruptFile):
                yield key, decode_captures(value)


def _salvage_part(store: Store, part: Sequence[FileEntry], round_number: int) -> tuple[FileEntry, ...]:
    """Write the sound rows of all layers as one; an older row stands for a newer one that is lost."""
    layers = layers_of(part, store.uri)
    sources = (_opened(store, layer.data) for layer in layers)
    rows = overlaid([_rising(source) for source in sources if source is not None])
    blocks = ((block.keys, block.values) for block in rows)
    number = layers[-1].number + 1
    return write_part(store, blocks, partition=part[0].partition, round_number=round_number, number=number)


def _rising(source: RangedSource) -> Iterator[Block]:
    """Yield the sound rows; a block that is not in key order does not belong to the part and is left out."""
    last = b""
    for block in sound_blocks(source):
        if block.keys and block.keys[0] > last:
            last = block.keys[-1]
            yield block


def _salvage_archive(store: Store, entry: FileEntry) -> tuple[FileEntry, ...]:
    source = _opened(store, entry)
    records = [] if source is None else list(sound_records(source))
    if source is None or not any(record.type != "warcinfo" for record in records):
        return ()
    name = data_name(PAGES, entry.partition, round_of(entry.name), _SUFFIX)
    with store.write(name) as sink:
        for record in records:
            sink.write(source.read(record.start, record.end - record.start))
    return (file_entry(sink, PAGES, entry.partition, len(records)),)


def _opened(store: Store, entry: FileEntry) -> RangedSource | None:
    with suppress(MissingFile):
        return store.open(entry.name)
    return None
