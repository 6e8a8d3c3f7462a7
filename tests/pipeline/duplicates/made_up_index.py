"""An index of which only the files are real that a grouping reads, and a grouping without a job.

Pages are pieces of long texts: (text, start) is a piece of 100 words. The nearer two starts of one text, the
more similar the pieces are; five words apart they are near duplicates. So there are chains of similar pages.
"""

from __future__ import annotations

import random
from collections import defaultdict
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.duplicates.changed_documents import messages_about
from crawlctl.pipeline.duplicates.meetings import meetings
from crawlctl.pipeline.duplicates.new_groups import write_partition
from crawlctl.pipeline.duplicates.order import GroupOrder, Labels, encode_message, partition_lines
from crawlctl.pipeline.duplicates.pairs import by_partition, grouped, pairs_of
from crawlctl.pipeline.index.segment.columns import COLUMNS as ALL_COLUMNS
from crawlctl.pipeline.index.segment.columns import encode_columns
from crawlctl.pipeline.index.segment.duplicate_groups import read_groups
from crawlctl.pipeline.index.segment.segment_files import (
    COLUMNS,
    SEGMENT_FILES,
    SKETCHES,
    segment_name,
)
from crawlctl.pipeline.index.segment.tombstones import Tombstones, write_tombstones
from crawlctl.pipeline.state.kinds import SEGMENTS
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.text.likeness.fingerprint import SKETCH_BYTES, fingerprint
from crawlctl.pipeline.urls.hosts import host_of, partition_of, stable_hash
from crawlctl.tests.pipeline.text.edits import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.store.base import Store

    Text = tuple[int, int]

LEAST = 0.9
NO_WORDS = (-1, 0)  # a text without a word


@cache
def sketch_of(text: Text) -> bytes:
    """Return the sketch of a piece of a text; empty if it has no words."""
    number, start = text
    if text == NO_WORDS:
        return b""
    chance = random.Random(number)
    words = [chance.choice(WORDS) for _ in range(300)]
    return fingerprint(" ".join(words[start : start + 100])).sketch


class _Segment(NamedTuple):
    name: str
    pages: list[tuple[str, Text]]
    dead: set[int]
    files: list[FileEntry]


class MadeUpIndex:
    """Pages of some partitions in segments; each change keeps the rules of an index merge."""

    def __init__(self, store: Store, partitions: int) -> None:
        self.pages: dict[str, Text] = {}
        self._store = store
        self._partitions = partitions
        self._segments: defaultdict[int, list[_Segment]] = defaultdict(list)
        self._round = count(1)

    def fetch(self, pages: dict[str, Text]) -> None:
        """Index pages in new segments; what was known of them before is deleted."""
        homes: defaultdict[int, list[tuple[str, Text]]] = defaultdict(list)
        for url, text in sorted(pages.items()):
            self.delete(url)
            homes[partition_of(host_of(url), self._partitions)].append((url, text))
        for partition, some in homes.items():
            self._segments[partition].append(self._written(partition, some))
        self.pages.update(pages)

    def delete(self, url: str) -> None:
        """Delete a page, if it is there."""
        self.pages.pop(url, None)
        for segment in self._segments[partition_of(host_of(url), self._partitions)]:
            segment.dead.update(at for at, (known, _) in enumerate(segment.pages) if known == url)

    def merge(self, partition: int, chance: random.Random) -> None:
        """Merge some segments of a partition into one, without their deleted pages."""
        segments = self._segments[partition]
        taken = chance.sample(segments, chance.randint(0, len(segments)))
        pages = [page for one in taken for at, page in enumerate(one.pages) if at not in one.dead]
        self._segments[partition] = [one for one in segments if one not in taken]
        if pages:
            self._segments[partition].append(self._written(partition, sorted(pages)))

    def entries(self) -> tuple[FileEntry, ...]:
        """Return the files of the index as it is now; tombstones are written again."""
        files: list[FileEntry] = []
        for partition, segments in self._segments.items():
            files += [entry for one in segments for entry in one.files]
            files += write_tombstones(
                self._store, map(_tombstones, segments), partition=partition, round_number=next(self._round)
            )
        return tuple(files)

    def groups(self, state: Iterable[FileEntry]) -> dict[str, int]:
        """Return the group of each page that is in one; ask only for groups made of this index."""
        found = read_groups(self._store, state)
        return {
            url: group
            for segments in self._segments.values()
            for one in segments
            for at, (url, _) in enumerate(one.pages)
            if (group := found[one.name].group_of(at)) is not None
        }

    def _written(self, partition: int, pages: list[tuple[str, Text]]) -> _Segment:
        name = segment_name(partition, next(self._round))
        columns = {column: bytes(width * len(pages)) for column, width in ALL_COLUMNS.items()}
        columns["hashes"] = np.array([stable_hash(url) for url, _ in pages], "<u8").tobytes()
        columns["characters"] = np.array([len(url) for url, _ in pages], "<u4").tobytes()
        sketches = b"".join(sketch_of(text).ljust(SKETCH_BYTES, b"\0") for _, text in pages)
        data = {COLUMNS: b"".join(encode_columns(columns, [], len(pages))), SKETCHES: sketches}
        return _Segment(name, pages, set(), [*self._files(name, partition, data, len(pages))])

    def _files(self, name: str, partition: int, data: dict[str, bytes], pages: int) -> Iterator[FileEntry]:
        counters = {"documents": pages}
        for file in SEGMENT_FILES:
            content = data.get(file, b"")
            if content:
                with self._store.write(f"{name}/{file}") as sink:
                    sink.write(content)
            own = counters if file == COLUMNS else {}
            yield FileEntry(SEGMENTS, partition, f"{name}/{file}", len(content), 0, "0" * 64, own)


def _tombstones(segment: _Segment) -> Tombstones:
    dead = np.zeros(len(segment.pages), np.bool_)
    dead[sorted(segment.dead)] = True
    bitmap = np.packbits(dead, bitorder="little").tobytes()
    return Tombstones(segment.name, len(segment.pages), len(segment.dead), 0, bitmap)


def group(
    store: Store, entries: tuple[FileEntry, ...], state: tuple[FileEntry, ...] = (), shards: int = 1
) -> tuple[FileEntry, ...]:
    """Group as the job does, and return the files of the grouping."""
    lines = partition_lines((*entries, *state))
    numbers = tuple(line.partition for line in lines)
    order = GroupOrder(
        store="", round=1, shards=shards, threshold=LEAST, partitions=numbers, state=tuple(state)
    )
    told = _shuffled(message for line in lines for message in messages_about(store, order, line))
    met = _shuffled(found for number, some in told.items() for found in meetings(store, order, number, some))
    pairs = [pairs_of(some, LEAST) for shard, some in met.items() if shard < shards]
    homes = {task - shards: some for task, some in met.items() if task >= shards}
    for partition, rows in by_partition(grouped(pairs)):
        homes[partition].append(encode_message(Labels(rows)))
    return tuple(
        entry for number, some in homes.items() for entry in write_partition(store, order, number, some)
    )


def _shuffled(messages: Iterable[tuple[int, bytes]]) -> dict[int, list[bytes]]:
    boxes: defaultdict[int, list[bytes]] = defaultdict(list)
    for task, message in messages:
        boxes[task].append(message)
    return boxes
