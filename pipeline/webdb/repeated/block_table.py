"""The table of blocks: the sample of each host, sorted by host, one file per partition that has pages.

    blocks/<partition>/<round>-<attempt>

The runs of a round have files of the same form. There is one file, not one per round: a sample has at most
about 8 KB, and once a sample is full, it changes only if one of its pages has changed.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile, MissingFile
from crawlctl.pipeline.state.kinds import BLOCKS
from crawlctl.pipeline.urls.hosts import host_in_key
from crawlctl.pipeline.webdb.repeated.block_sample import (
    NO_BOUND,
    SAMPLED_PAGES,
    BlockSample,
    decode_sample,
    encode_sample,
    mark_of,
    sample_of,
)
from crawlctl.pipeline.webdb.row_files import open_table, replaced_rows, table_rows, write_rows, write_table

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_PAGE_MEMORY = 250  # measured: bytes of Python objects around the blocks of a page in a run
_SPARE_PAGES = 8  # how many pages of a host a run may hold beyond the size of a sample


def read_samples(
    store: Store, entry: FileEntry, hosts: Container[bytes] | None = None
) -> Iterator[tuple[bytes, BlockSample]]:
    """Yield the hosts of a file and their samples; with `hosts` only these hosts."""
    name = store.locate(entry.name)
    for block in open_table(store, entry).blocks():
        for host, value in zip(block.keys, block.values, strict=True):
            if hosts is None or host in hosts:
                yield host, decode_sample(value, name, block.offset)


class KnownBlocks:
    """The samples of a task's hosts from earlier rounds; they do not change while the task runs.

    So a document depends only on its page and on the snapshot with which its round began, not on other pages
    of the round, nor on which attempt of a task has read it.
    """

    def __init__(self, samples: Iterable[tuple[bytes, BlockSample]] = ()) -> None:
        self._repeated: dict[bytes, bytes] = {}
        self._bounds: dict[bytes, int] = {}
        for host, sample in samples:
            if repeated := sample.repeated():
                self._repeated[host] = repeated
            if sample.bound != NO_BOUND:
                self._bounds[host] = sample.bound

    def repeated(self, host: str) -> bytes:
        """Return the hashes of the blocks that most pages of a host have."""
        return self._repeated.get(host.encode("ascii"), b"")

    def bound(self, host: bytes) -> int:
        """Return the mark up to which a page may belong to the sample of a host; others need not be saved."""
        return self._bounds.get(host, NO_BOUND)


def known_blocks(
    store: Store, snapshot: Snapshot, partition: int, hosts: Collection[str] | None = None
) -> KnownBlocks:
    """Return the samples that a snapshot has of some hosts of a partition (None: of all hosts).

    Without its table a partition is read as in its first round: a damaged table must not stop a round, and
    `crawlctl check` names it.
    """
    wanted = None if hosts is None else {host.encode("ascii") for host in hosts}
    tables = snapshot.files_of(BLOCKS, partition)
    try:
        return KnownBlocks(row for entry in tables for row in read_samples(store, entry, wanted))
    except (CorruptFile, MissingFile):
        return KnownBlocks()


class RunBlocks:
    """The blocks of the pages in a task's current run, until the run is written."""

    def __init__(self, known: KnownBlocks | None = None) -> None:
        self.known = known or KnownBlocks()
        self._of_host: defaultdict[bytes, list[tuple[int, bytes]]] = defaultdict(list)
        # A host with more pages than a sample has: the task has found a whole sample with smaller marks.
        self._bounds: dict[bytes, int] = {}
        self.memory = 0  # an estimate of the bytes of memory that they take

    def wants(self, key: bytes) -> bool:
        """Return whether the page with a WebDB key may be in the sample of its host after the round."""
        mark, host = mark_of(key), host_in_key(key)
        return mark <= self.known.bound(host) and mark <= self._bounds.get(host, NO_BOUND)

    def add(self, key: bytes, hashes: bytes) -> None:
        """Add the blocks of the page with a WebDB key, if they are wanted."""
        if not hashes or not self.wants(key):
            return
        host = host_in_key(key)
        pages = self._of_host[host]
        pages.append((mark_of(key), hashes))
        self.memory += len(hashes) + _PAGE_MEMORY
        if len(pages) >= SAMPLED_PAGES + _SPARE_PAGES:
            self.memory -= sum(len(found) + _PAGE_MEMORY for _, found in pages)
            sample = sample_of(pages)
            pages[:], self._bounds[host] = sample.pages, sample.bound
            self.memory += sum(len(found) + _PAGE_MEMORY for _, found in pages)

    def write(self, store: Store, *, partition: int, round_number: int) -> tuple[FileEntry, ...]:
        """Write the samples of the run and forget them; without blocks no file is written."""
        rows = {host: encode_sample(sample_of(pages)) for host, pages in self._of_host.items()}
        self._of_host.clear()
        self.memory = 0
        if not rows:
            return ()
        return (write_rows(store, BLOCKS, rows, partition=partition, round_number=round_number),)


def merge_blocks(
    store: Store,
    tables: Sequence[FileEntry],
    runs: Iterable[FileEntry],
    *,
    partition: int,
    round_number: int,
) -> tuple[FileEntry, ...]:
    """Write the next table of a partition: the old one with the pages of the runs of a round.

    Files of other kinds in `runs` are ignored. If no sample changes, nothing is written, and the old table
    stays.
    """
    new = _of_runs(store, [entry for entry in runs if entry.kind == BLOCKS])
    try:
        changed = _changed(store, tables, new) if new else {}
    except (CorruptFile, MissingFile):
        return ()  # the damaged table stays: `crawlctl check` names it, and a repair begins a new table
    if not changed:
        return ()
    rows = replaced_rows(table_rows(store, tables), sorted(changed.items()))
    return (write_table(store, BLOCKS, rows, partition=partition, round_number=round_number),)


def _changed(
    store: Store, tables: Iterable[FileEntry], new: Mapping[bytes, BlockSample]
) -> dict[bytes, bytes]:
    """Return the packed samples that differ from those of the tables."""
    left = dict(new)
    changed: dict[bytes, bytes] = {}
    for entry in tables:
        for host, sample in read_samples(store, entry, new):
            if (after := sample.updated(left.pop(host))) != sample:
                changed[host] = encode_sample(after)
    return changed | {host: encode_sample(sample) for host, sample in left.items()}


def _of_runs(store: Store, runs: Iterable[FileEntry]) -> dict[bytes, BlockSample]:
    """Return the samples of all runs of a round together, in whatever order the runs come."""
    pages: defaultdict[bytes, list[tuple[int, bytes]]] = defaultdict(list)
    for entry in runs:
        for host, sample in read_samples(store, entry):
            pages[host] += sample.pages
    return {host: sample_of(found) for host, found in pages.items()}
