"""Records of copies: of which crawl a store is a copy, and whether a crawl may be copied there.

    copies/00000042.json         the snapshot of the crawl that this store is, or will be, a copy of
    copies/00000042/00003.json   the files of partition 3, of a copy in another number of partitions

The record is written before any file and says which snapshot the copy will end with. So we can distinguish
three cases: a copy that was cut short, which is continued; a copy that is behind its source, which is brought
up to date; and a store that has been crawled or merged by itself, which is left alone.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import ConfigError, CorruptFile, MissingFile, StoreError
from crawlctl.pipeline.state.layout import COPIES, DATA_KINDS, copied_partition_name, copy_name
from crawlctl.pipeline.state.manifest import encode_entry, read_manifest
from crawlctl.pipeline.state.snapshots import load_snapshot, snapshot_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_VERSION = 1


class CopyRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A copy of the snapshot with this number and writer; `becomes` is the writer of its own snapshot."""

    version: int = _VERSION
    source: str
    number: int
    writer: str
    partitions: int
    becomes: str
    created: float


@dataclass(frozen=True)
class CopyState:
    """The progress of a copy: its record, whether it is stored, and whether its snapshot is committed."""

    record: CopyRecord
    is_begun: bool
    is_committed: bool


def copy_state(source: Store, snapshot: Snapshot, destination: Store, partitions: int | None) -> CopyState:
    """Return the progress of the copy of a snapshot; raise an error if the store has anything else.

    If `partitions` is None, an earlier copy keeps its number, and a new copy gets the number of the source.
    """
    numbers = snapshot_numbers(destination)
    last = _last_record(destination)
    if last is None:
        _require_empty(destination, numbers)
    else:
        _require_ours(destination, numbers, last)
        _require_same_crawl(source, snapshot, destination, last)
    count = partitions or (last.partitions if last else snapshot.partitions)
    if last is not None and last.partitions != count:
        raise ConfigError(
            f"{destination.uri} is a copy in {last.partitions} partitions; "
            f"give --partitions {last.partitions}, or another DST"
        )
    if last is not None and last.number == snapshot.number:
        return CopyState(last, is_begun=True, is_committed=snapshot.number in numbers)
    return CopyState(_new_record(source, snapshot, count), is_begun=False, is_committed=False)


def source_of_copy(store: Store, snapshot: Snapshot) -> str:
    """Return the store that a snapshot was copied from byte for byte, or "" if it was made here."""
    try:
        record = _read_record(store, copy_name(snapshot.number))
    except (CorruptFile, MissingFile):
        return ""
    return record.source if record.becomes == record.writer == snapshot.writer else ""


def put_record(store: Store, record: CopyRecord) -> None:
    """Write the record of a copy that is going to be made."""
    store.put(copy_name(record.number), msgspec.json.encode(record))


def put_partition(
    store: Store, number: int, partition: int, entries: Iterable[FileEntry]
) -> tuple[FileEntry, ...]:
    """Write the list of the files of a partition; return the list of the first attempt to do so."""
    name, files = copied_partition_name(number, partition), tuple(entries)
    if store.create(name, b"".join(encode_entry(entry) + b"\n" for entry in files)):
        return files
    return tuple(read_manifest(store.read(name), store.locate(name)))


def finished_partition(store: Store, number: int, partition: int) -> tuple[FileEntry, ...] | None:
    """Return the files of a partition that was finished before; None if it was not, or files are missing."""
    name = copied_partition_name(number, partition)
    try:
        files = tuple(read_manifest(store.read(name), store.locate(name)))
        if all(store.size(entry.name) == entry.bytes for entry in files):
            return files
    except MissingFile:
        pass
    store.delete([name])
    return None


def forget_steps(store: Store, number: int) -> None:
    """Delete the lists of partitions of a finished copy, and the records of earlier copies."""
    last = copy_name(number)
    store.delete([file.name for file in store.list(f"{COPIES}/") if file.name != last])


def _new_record(source: Store, snapshot: Snapshot, partitions: int) -> CopyRecord:
    if partitions < 1:
        raise ConfigError(f"a crawl cannot have {partitions} partitions; give --partitions 1 or more")
    same = partitions == snapshot.partitions
    return CopyRecord(
        source=source.uri,
        number=snapshot.number,
        writer=snapshot.writer,
        partitions=partitions,
        becomes=snapshot.writer if same else os.urandom(16).hex(),
        created=time.time(),
    )


def _last_record(store: Store) -> CopyRecord | None:
    names = [file.name for file in store.list(f"{COPIES}/") if file.name.count("/") == 1]
    return _read_record(store, names[-1]) if names else None


def _read_record(store: Store, name: str) -> CopyRecord:
    try:
        return msgspec.json.decode(store.read(name), type=CopyRecord)
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise CorruptFile(store.locate(name), 0, f"not the record of a copy ({err})") from err


def _require_empty(destination: Store, numbers: tuple[int, ...]) -> None:
    if numbers:
        raise StoreError(
            f"{destination.uri} holds a crawl that is no copy (snapshot {numbers[-1]}); name an empty DST"
        )
    for kind in DATA_KINDS:
        found = next(destination.list(f"{kind}/"), None)
        if found is not None:
            raise StoreError(f"{destination.locate(found.name)} is in the way of a copy; name an empty DST")


def _require_ours(destination: Store, numbers: tuple[int, ...], last: CopyRecord) -> None:
    """Raise if anything but a copy has changed the store."""
    if not numbers:
        return
    try:
        made = _read_record(destination, copy_name(numbers[-1])).becomes
    except MissingFile:
        made = ""
    if load_snapshot(destination, numbers[-1]).writer != made:
        raise StoreError(
            f"{destination.uri} has changed since snapshot {last.number} was copied there, "
            "and another copy would undo that; name another DST"
        )


def _require_same_crawl(source: Store, snapshot: Snapshot, destination: Store, last: CopyRecord) -> None:
    if last.number > snapshot.number:
        raise StoreError(
            f"{destination.uri} is a copy of snapshot {last.number}, and {source.uri} is at "
            f"{snapshot.number}; it is ahead, or a copy of another crawl: name another DST"
        )
    try:
        same = load_snapshot(source, last.number).writer == last.writer
    except MissingFile:  # gc has removed it
        same = last.source == source.uri
    if not same:
        raise StoreError(
            f"{destination.uri} is a copy of another crawl, of {last.source}; name another DST for this one"
        )
