"""IndexedPages: which pages of a partition have a document in the index, and from when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.runs.run_heads import read_heads
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, segments_of
from crawlctl.pipeline.urls.hosts import stable_hash, url_in_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Found = tuple[NDArray[np.uint64], NDArray[np.int64]]  # hashes of URLs, and when each was fetched


class IndexedPages:
    """The documents of segments and runs, dead ones too; the frontier does not count. 16 bytes each."""

    def __init__(self, store: Store, entries: Iterable[FileEntry]) -> None:
        files = tuple(entries)
        found = [_of_segment(store, segment) for segment in segments_of(files) if not segment.frontier]
        found += [_of_run(store, run.docs_heads) for run in runs_of(files)]
        hashes = np.concatenate([np.zeros(0, np.uint64), *(hashes for hashes, _ in found)])
        fetched = np.concatenate([np.zeros(0, np.int64), *(times for _, times in found)])
        order = np.lexsort((fetched, hashes))
        self._hashes, self._fetched = hashes[order], fetched[order]

    def has(self, key: bytes, since: int) -> bool:
        """Return whether there is a document of a WebDB key that was fetched at a time or after it."""
        wanted = np.uint64(stable_hash(url_in_key(key)))
        last = int(np.searchsorted(self._hashes, wanted, "right")) - 1  # the newest of that page
        return last >= 0 and self._hashes[last] == wanted and int(self._fetched[last]) >= since


def _of_segment(store: Store, segment: Segment) -> Found:
    reader = ColumnReader(segment.open(store, COLUMNS), segment.documents)
    reader.check()
    hashes = np.frombuffer(reader.raw("hashes"), "<u8").astype(np.uint64)
    return hashes, np.frombuffer(reader.raw("fetched"), "<u4").astype(np.int64)


def _of_run(store: Store, heads: str) -> Found:
    pairs = [(stable_hash(head.url), head.fetched_at) for _, head in read_heads(store, heads)]
    return np.array([page for page, _ in pairs], np.uint64), np.array([when for _, when in pairs], np.int64)
