"""Checks that the files of the index fit each other."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawlctl.pipeline.duplicates.order import STATE_KINDS
from crawlctl.pipeline.index.segment.dictionary import Dictionary
from crawlctl.pipeline.index.segment.duplicate_groups import LEAST, read_groups
from crawlctl.pipeline.index.segment.priors import read_priors
from crawlctl.pipeline.index.segment.segment_files import POSTINGS, segments_of
from crawlctl.pipeline.index.segment.side_file import RangedSideFile
from crawlctl.pipeline.index.segment.tombstones import read_tombstones
from crawlctl.pipeline.repair.finding import Finding
from crawlctl.pipeline.state.kinds import COMPARED, DELETED, DICTIONARY, GROUPS, PRIORS
from crawlctl.pipeline.state.layout import DATA

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

    Lengths = Callable[[Store, FileEntry], dict[str, int]]  # documents by segment, as a side file has them


def check_side_files(
    store: Store, snapshot: Snapshot, partition: int, damaged: Collection[str]
) -> Iterator[Finding]:
    """Compare tombstones, priors, groups and what was compared with the segments that they are about."""
    files = [entry for entry in snapshot.files if entry.partition == partition]
    segments = {segment.name: segment.documents for segment in segments_of(files)}
    for entry in files:
        if entry.kind in _DOCUMENTS and entry.name not in damaged:
            for name, documents in _DOCUMENTS[entry.kind](store, entry).items():
                yield from _compared(entry, name, documents, segments)
    state = [entry for entry in files if entry.kind in STATE_KINDS]
    if not any(entry.name in damaged for entry in state):
        yield from _without_rows(store, state)


def _without_rows(store: Store, state: Sequence[FileEntry]) -> Iterator[Finding]:
    """Check that the last grouping has left the rows of all segments that it has compared."""
    from crawlctl.pipeline.duplicates.compared import ComparedFiles

    compared = ComparedFiles(store, state)
    for entry in state:
        if LEAST in entry.counters:  # groups of older releases have no such files
            lost = [name for name in read_groups(store, [entry]) if name not in compared]
            yield from (_wrong(entry, f"no file says which documents {name} had") for name in lost[:1])


def _compared(entry: FileEntry, name: str, documents: int, segments: dict[str, int]) -> Iterator[Finding]:
    if name not in segments:
        if entry.kind not in STATE_KINDS:  # groups may be older than the last merge (index.group_share)
            yield _wrong(entry, f"it is about {name}, which is not in the snapshot")
    elif entry.kind == GROUPS and documents > segments[name]:
        yield _wrong(entry, f"it groups document {documents - 1} of {segments[name]} in {name}")
    elif entry.kind != GROUPS and documents != segments[name]:
        yield _wrong(entry, f"it has {documents} documents of {name}, not {segments[name]}")


def _of_tombstones(store: Store, entry: FileEntry) -> dict[str, int]:
    return {name: one.documents for name, one in read_tombstones(store, [entry]).items()}


def _of_priors(store: Store, entry: FileEntry) -> dict[str, int]:
    file = read_priors(store, [entry])[entry.partition]
    return {name: len(file.of(name) or b"") for name in file.segments}


def _of_groups(store: Store, entry: FileEntry) -> dict[str, int]:
    return {name: max(one.ordinals, default=-1) + 1 for name, one in read_groups(store, [entry]).items()}


def _of_compared(store: Store, entry: FileEntry) -> dict[str, int]:
    from crawlctl.pipeline.duplicates.compared import COMPARED_ROW

    file = RangedSideFile(store, entry)
    return {name: len(file.of(name) or b"") // COMPARED_ROW.itemsize for name in file.segments}


_DOCUMENTS: dict[str, Lengths] = {
    COMPARED: _of_compared,
    DELETED: _of_tombstones,
    GROUPS: _of_groups,
    PRIORS: _of_priors,
}


def check_dictionary(
    store: Store, snapshot: Snapshot, partition: int, damaged: Collection[str]
) -> Iterator[Finding]:
    """Compare all layers of the dictionary with the segments; the first shard's task does it.

    Every term info must point into the postings of its segment, and each segment must be there with as many
    terms as it has.
    """
    files = snapshot.files_of(DICTIONARY)
    data = next((entry for entry in files if entry.partition == 0 and entry.name.endswith(DATA)), None)
    if data is None or partition != data.partition:
        return
    if any(entry.name in damaged for entry in files) or not _are_there(store, files):
        return
    named = {segment.name: segment for segment in segments_of(snapshot.files)}
    dictionary = Dictionary(store, files, named.keys())
    if missing := named.keys() - set(dictionary.segments):
        yield _wrong(data, f"it does not have the segment {min(missing)} of the snapshot")
        return
    segments = [named[name] for name in dictionary.segments]
    yield from _check_terms(store, data, dictionary, segments)


def _check_terms(
    store: Store, data: FileEntry, dictionary: Dictionary, segments: list[Segment]
) -> Iterator[Finding]:
    sizes = [segment.checked(_Sized(store, segment), POSTINGS).size for segment in segments]
    terms: Counter[int] = Counter()
    for term, infos in dictionary.range():
        terms.update(info.segment for info in infos)
        if beyond := next((info for info in infos if _end(info) > sizes[info.segment]), None):
            name = segments[beyond.segment].entries[POSTINGS].name
            yield _wrong(data, f"the list of {term.decode('utf-8', 'replace')!r} ends beyond {name}")
            return
    for number, segment in enumerate(segments):
        if terms[number] != segment.terms:
            yield _wrong(data, f"it has {terms[number]} terms of {segment.name}, not {segment.terms}")


class _Sized:
    """Postings of a segment of which only the size is known, from the manifest; no byte of them is read."""

    def __init__(self, store: Store, segment: Segment) -> None:
        entry = segment.entries[POSTINGS]
        self.name, self.size = store.locate(entry.name), entry.bytes

    def read(self, start: int, length: int) -> bytes:
        """Raise an error: the check reads no postings."""
        raise NotImplementedError


def _end(info: TermInfo) -> int:
    return 0 if info.inlined else info.offset + info.documents_bytes + info.positions_bytes


def _are_there(store: Store, files: Collection[FileEntry]) -> bool:
    """Return whether all shards have their size; the tasks of other partitions check their bytes."""
    sizes = {file.name: file.bytes for file in store.list(f"{DICTIONARY}/")}
    return all(sizes.get(entry.name) == entry.bytes for entry in files)


def _wrong(entry: FileEntry, reason: str) -> Finding:
    return Finding(entry.name, entry.kind, entry.partition, "wrong", reason)
