"""The messages from mappers to reducers of the WebDB merge: discovered URLs and names of files.

One record per URL through mrjob would cost more than the rest of the merge. So a mapper merges the sorted
files it is given, joins the discoveries of one URL, and sends each partition its URLs in sorted, compressed
batches, one line per batch. A batch carries the number of its mapper, and its own number among the batches of
this mapper for this partition. The reducer puts the batches of each mapper in order, and merges one stream
per mapper; of each stream one batch at a time is decompressed. It joins the discoveries of one URL.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import merge
from operator import itemgetter
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.codecs import CODECS
from crawlctl.pipeline.state.kinds import FRESH
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.urls.hosts import host_of_key, key_prefix, partition_of
from crawlctl.pipeline.webdb.entries import merge_fresh
from crawlctl.pipeline.webdb.records import Fresh, decode_fresh, encode
from crawlctl.pipeline.webdb.row_files import open_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.store.base import Store

# Bytes of keys and values per batch; a reducer holds one batch per mapper, a mapper one batch per partition.
BATCH_BYTES = 256 << 10
# a batch with a long value may be larger than BATCH_BYTES, but is always smaller than this
MAX_BATCH_BYTES = 64 << 20

_codec = CODECS["default"]
_by_key = itemgetter(0)


class Numbered(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """A file of the fetch step and its number in the manifest of the step, where later runs come later."""

    number: int
    entry: FileEntry


class Batch(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """A batch of the URLs of a mapper for a partition: compressed msgpack of their keys and values."""

    mapper: int
    number: int
    rows: bytes


_message = msgspec.msgpack.Decoder(Numbered | Batch)
_rows = msgspec.msgpack.Decoder(tuple[list[bytes], list[bytes]])


def spread(store: Store, files: Sequence[Numbered], partitions: int) -> Iterator[tuple[int, bytes]]:
    """Yield (partition, message): discovered URLs in batches, other files by name."""
    for file in files:
        if file.entry.kind != FRESH:
            yield file.entry.partition, encode(file)
    found = [file for file in files if file.entry.kind == FRESH]
    if found:
        # No other mapper reads this file, so the number of the file serves as the number of the mapper.
        yield from _batches(_distinct(store, found), partitions, mapper=found[0].number)


def _distinct(store: Store, files: Iterable[Numbered]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the URLs of sorted files in order, each once."""
    rows = merge(*(open_table(store, file.entry) for file in files), key=_by_key)
    held = next(rows, None)
    for row in rows:
        if held is not None and row[0] == held[0]:
            held = row[0], encode(merge_fresh(_fresh(held[1]), _fresh(row[1])))
        elif held is not None:
            yield held
            held = row
    if held is not None:
        yield held


class _Outbox:
    """The URLs that a mapper has collected for one partition since it sent the last batch."""

    def __init__(self, partition: int, mapper: int) -> None:
        self.partition = partition
        self.bytes = 0
        self._mapper = mapper
        self._number = 0
        self._keys: list[bytes] = []
        self._values: list[bytes] = []

    def add(self, key: bytes, value: bytes) -> None:
        self._keys.append(key)
        self._values.append(value)
        self.bytes += len(key) + len(value)

    def take(self) -> tuple[int, bytes]:
        rows = _codec.compress(encode((self._keys, self._values)))
        message = encode(Batch(self._mapper, self._number, rows))
        self._number += 1
        self._keys, self._values, self.bytes = [], [], 0
        return self.partition, message


def _batches(
    rows: Iterable[tuple[bytes, bytes]], partitions: int, mapper: int
) -> Iterator[tuple[int, bytes]]:
    boxes: dict[int, _Outbox] = {}
    host, box = b" ", _Outbox(0, mapper)  # no key begins with a space
    for key, value in rows:
        if not key.startswith(host):
            host = key_prefix(key)
            partition = partition_of(host_of_key(key), partitions)
            box = boxes.setdefault(partition, _Outbox(partition, mapper))
        box.add(key, value)
        if box.bytes >= BATCH_BYTES:
            yield box.take()
    yield from (box.take() for box in boxes.values() if box.bytes)


def gather(messages: Iterable[bytes]) -> tuple[Iterator[tuple[bytes, Fresh]], list[FileEntry]]:
    """Return the sorted URLs and the files, later runs later, from messages in any order."""
    files: list[Numbered] = []
    batches: defaultdict[int, list[Batch]] = defaultdict(list)
    for message in messages:
        decoded = _message.decode(message)
        if isinstance(decoded, Batch):
            batches[decoded.mapper].append(decoded)
        else:
            files.append(decoded)
    streams = (_unpacked(sent) for sent in batches.values())
    files.sort(key=lambda file: file.number)
    return _joined(merge(*streams, key=_by_key)), [file.entry for file in files]


def _joined(rows: Iterator[tuple[bytes, Fresh]]) -> Iterator[tuple[bytes, Fresh]]:
    """Yield each of the sorted URLs once."""
    held = next(rows, None)
    if held is None:
        return
    for row in rows:
        if row[0] != held[0]:
            yield held
            held = row
        else:
            held = row[0], merge_fresh(held[1], row[1])
    yield held


def _unpacked(batches: list[Batch]) -> Iterator[tuple[bytes, Fresh]]:
    for batch in sorted(batches, key=lambda batch: batch.number):
        keys, values = _rows.decode(_codec.decompress(batch.rows, MAX_BATCH_BYTES))
        yield from zip(keys, map(_fresh, values), strict=True)


def _fresh(value: bytes) -> Fresh:
    try:
        return decode_fresh(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(FRESH, 0, f"not a discovered URL ({err})") from err
