"""An index of several partitions and rounds, made by the real builder and the real merges."""

from __future__ import annotations

from collections import defaultdict
from hashlib import blake2b
from typing import TYPE_CHECKING

from crawlctl.pipeline.config.settings import IndexSettings
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.merge.dictionary_shards import write_all, write_shard
from crawlctl.pipeline.index.merge.layer_policy import MAX_LAYERS
from crawlctl.pipeline.index.merge.liveness import PageState
from crawlctl.pipeline.index.merge.partition import MergeTask, merge_partition
from crawlctl.pipeline.index.segment.duplicate_groups import pack_groups, write_groups
from crawlctl.pipeline.index.segment.priors import write_priors
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.index.statistics import totals_of
from crawlctl.pipeline.state.kinds import DICTIONARY
from crawlctl.pipeline.state.snapshots import create_crawl
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


def documents_of(round_number: int, partitions: int, count: int) -> list[Document]:
    """Return documents of one host per partition; the pages of round 1 come again in every round."""
    return [
        Document(
            f"http://host{partition}.example/{number if number % 9 == 0 else f'{round_number}-{number}'}",
            title=f"page {number}",
            text=f"red tree of round{round_number} number{number} " + _words(f"{partition} {number}"),
            language="en",
        )
        for partition in range(partitions)
        for number in range(count)
    ]


def _words(seed: str) -> str:
    """Return words that do not compress well, so that documents take some room as real ones do."""
    return " ".join(blake2b(f"{seed} {count}".encode()).hexdigest()[:9] for count in range(60))


def merged_files(store: Store, partitions: int, rounds: int, count: int) -> tuple[Snapshot, list[FileEntry]]:
    """Write an index with tombstones, priors and groups; return the first snapshot and the files."""
    first = create_crawl(store, partitions)
    files: list[FileEntry] = []
    pages: defaultdict[int, set[bytes]] = defaultdict(set)
    for number in range(1, rounds + 1):
        files = _after_round(store, files, pages, documents_of(number, partitions, count), number)
    for partition in range(partitions):
        files += _side_files(store, files, partition, rounds)
    return first, [*files, *write_all(store, files, rounds)]


def in_layers(store: Store, files: Sequence[FileEntry]) -> list[FileEntry]:
    """Return the files with a layer of the dictionary for each segment, at most four, the last one large."""
    segments = segments_of(files)
    shares = [*([one] for one in segments[: MAX_LAYERS - 1]), segments[MAX_LAYERS - 1 :]]
    layers = (
        entry
        for number, share in enumerate(shares, 1)
        for entry in write_shard(store, share, shard=0, shards=1, round_number=9, layer=number)
    )
    return [*(entry for entry in files if entry.kind != DICTIONARY), *layers]


def _after_round(
    store: Store,
    files: list[FileEntry],
    pages: defaultdict[int, set[bytes]],
    documents: Sequence[Document],
    number: int,
) -> list[FileEntry]:
    merged: list[FileEntry] = []
    for partition in sorted({_partition(document) for document in documents}):
        builder = RunBuilder()
        for document in documents:
            if _partition(document) == partition:
                builder.add(document)
                pages[partition].add(f"{host_of(document.url)} {document.url}".encode())
        own = [entry for entry in files if entry.partition == partition]
        own += builder.write(store, partition=partition, round_number=number)
        task = MergeTask(partition, number, IndexSettings(), totals_of(own), frontier=0)
        merged += merge_partition(store, task, own, map(PageState, sorted(pages[partition]))).files
    return merged


def _partition(document: Document) -> int:
    return int(document.url.removeprefix("http://host").partition(".")[0])


def _side_files(
    store: Store, files: Sequence[FileEntry], partition: int, rounds: int
) -> tuple[FileEntry, ...]:
    segments = segments_of(entry for entry in files if entry.partition == partition)
    priors = {segment.name: bytes(segment.documents) for segment in segments}
    groups = [pack_groups(segment.name, {0: 7}) for segment in segments]
    return (
        *write_priors(store, priors, partition=partition, round_number=rounds),
        *write_groups(store, groups, partition=partition, round_number=rounds),
    )
