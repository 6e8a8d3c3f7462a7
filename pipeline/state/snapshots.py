"""Snapshots: each names every live file of a crawl; the one with the highest number is current.

A commit creates the next number if it is absent, and only one writer can. That is not enough once old
snapshots are deleted: a writer that slept since snapshot 5 could create number 6 again after gc deleted it.
So a snapshot names the snapshot that it follows, and a commit checks that it has really become current.

The last field of the file is the CRC-32 of all bytes before it; files of older versions have none.
"""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Annotated
from zlib import crc32

import msgspec

from crawlctl.pipeline.errors import (
    CommitConflict,
    ConfigError,
    DamagedSnapshot,
    MissingFile,
    NotACrawl,
    StoreError,
)
from crawlctl.pipeline.state.format_versions import check_version
from crawlctl.pipeline.state.layout import SNAPSHOTS, number_of, snapshot_name
from crawlctl.pipeline.state.leases.probe import require_exclusive_create
from crawlctl.pipeline.state.manifest import Count, FileEntry, Moment, Partitions, encode_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlctl.pipeline.store.base import Store

# 2: `made_by`, since releases that read 1 refuse fields they do not know; 3: WebDB parts of several layers;
# 4: extracts beside these layers.
FORMAT_VERSION = 4
# how often reading the newest snapshot is tried; a try fails only if a commit and a gc come in between
LOOKS = 5

_AT_BYTE = re.compile(r"\(byte (\d+)\)")
_END = b"\n}\n"
_CHECKSUM = re.compile(rb',\n "checksum": "([0-9a-f]{8})"\n}\n\Z')
_CHECKSUM_BYTES = len(b',\n "checksum": "00000000"\n}\n')


class Snapshot(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The state of a crawl after a commit: its live files, and properties of the crawl that never change.

    `writer` is random and makes each snapshot unique; `parent` is the writer of the snapshot before it.
    """

    version: int
    number: Annotated[int, msgspec.Meta(ge=1, le=(1 << 63) - 1)]
    writer: str
    parent: str
    created: Moment
    round: Count
    partitions: Partitions
    files: tuple[FileEntry, ...]
    made_by: str = ""  # the command that made it, for people; older snapshots do not say

    def files_of(self, kind: str, partition: int | None = None) -> tuple[FileEntry, ...]:
        """Return the files of a kind, of one partition or of all, in the order they were committed."""
        return tuple(f for f in self.files if f.kind == kind and partition in (None, f.partition))


def create_crawl(
    store: Store, partitions: int, first_files: Callable[[], Iterable[FileEntry]] = tuple
) -> Snapshot:
    """Commit the first snapshot of a crawl; `first_files` writes its files after the store was tested."""
    if partitions < 1:
        raise ConfigError(f"a crawl cannot have {partitions} partitions; give --partitions 1 or more")
    if numbers := snapshot_numbers(store):
        raise StoreError(
            f"{store.uri} holds a crawl already (snapshot {numbers[-1]}); use it, or give another --store"
        )
    require_exclusive_create(store)
    first = Snapshot(
        version=FORMAT_VERSION,
        number=1,
        writer=os.urandom(16).hex(),
        parent="",
        created=time.time(),
        round=0,
        partitions=partitions,
        files=tuple(first_files()),
        made_by="init",
    )
    publish(store, first)
    return first


def commit(
    store: Store,
    parent: Snapshot,
    *,
    files: Iterable[FileEntry],
    round_number: int,
    now: float | None = None,
    made_by: str = "",
) -> Snapshot:
    """Make these files the current snapshot, unless another writer committed after the same parent first."""
    following = msgspec.structs.replace(
        parent,
        version=FORMAT_VERSION,
        number=parent.number + 1,
        writer=os.urandom(16).hex(),
        parent=parent.writer,
        created=time.time() if now is None else now,
        round=round_number,
        files=tuple(files),
        made_by=made_by,
    )
    publish(store, following)
    return following


def publish(store: Store, snapshot: Snapshot) -> None:
    """Create the file of a snapshot and check that it has become current."""
    if not store.create(snapshot_name(snapshot.number), encode_snapshot(snapshot)):
        raise _conflict(store, snapshot)
    later = [number for number in snapshot_numbers(store) if number > snapshot.number]
    if later and not _is_followed(store, snapshot):
        raise _conflict(store, snapshot)


def _is_followed(store: Store, snapshot: Snapshot) -> bool:
    try:
        return load_snapshot(store, snapshot.number + 1).parent == snapshot.writer
    except MissingFile:
        return False


def _conflict(store: Store, snapshot: Snapshot) -> CommitConflict:
    return CommitConflict(
        f"{store.uri}: another run committed snapshot {snapshot.number} first; nothing of it was changed: "
        "run the command again to work on the current state"
    )


def snapshot_numbers(store: Store) -> tuple[int, ...]:
    """Return the numbers of all snapshots, the current one last."""
    numbers = (number_of(file.name) for file in store.list(f"{SNAPSHOTS}/"))
    return tuple(sorted(number for number in numbers if number is not None))


def load_current(store: Store) -> Snapshot:
    """Return the snapshot with the highest number."""
    for _ in range(LOOKS):
        numbers = snapshot_numbers(store)
        if not numbers:
            break
        try:
            return load_snapshot(store, numbers[-1])
        except MissingFile:
            continue
    raise NotACrawl(
        f"{store.uri} holds no crawl; start one with `crawlctl run https://… --store {store.uri}`, "
        "or name another place with --store"
    )


def load_snapshot(store: Store, number: int) -> Snapshot:
    """Return the snapshot with a number."""
    name = snapshot_name(number)
    snapshot = decode_snapshot(store.read(name), store.locate(name))
    if snapshot.number != number:
        raise DamagedSnapshot(store.locate(name), 0, f"it says to be snapshot {snapshot.number}")
    return snapshot


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """Return a snapshot as JSON with one line per field and per file, for grep and diff."""
    fields = [
        f'"{field}": '.encode() + msgspec.json.encode(getattr(snapshot, field))
        for field in snapshot.__struct_fields__
        if field != "files"
    ]
    files = b",\n  ".join(map(encode_entry, snapshot.files))
    body = b"{\n " + b",\n ".join([*fields, b'"files": [\n  ' + files + b"\n ]"])
    return body + b',\n "checksum": "%08x"' % crc32(body) + _END


def decode_snapshot(data: bytes, name: str) -> Snapshot:
    """Return the snapshot in a file; errors call it `name`."""
    data = _without_checksum(data, name)
    try:
        check_version(data, name, FORMAT_VERSION)
        return msgspec.json.decode(data, type=Snapshot)
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        at = _AT_BYTE.search(str(err))
        raise DamagedSnapshot(name, int(at[1]) if at else 0, f"not a snapshot: {err}") from err


def _without_checksum(data: bytes, name: str) -> bytes:
    """Return the file without its checksum, as older versions wrote it; raise if the checksum is wrong."""
    found = _CHECKSUM.search(data, max(0, len(data) - _CHECKSUM_BYTES))
    # of an older version, or damaged: anywhere but at the end, a checksum is an unknown field
    if found is None:
        return data
    body = data[: found.start()]
    if int(found[1], 16) != crc32(body):
        raise DamagedSnapshot(name, 0, "the snapshot does not fit its checksum")
    return body + _END
