"""The published files of ranks: their names, and the tables among them as commands read them.

    ranks/<partition>/…/ranks    float64, one per URL in the order of the WebDB part
    ranks/<partition>/…/url      URL → rank, the highest first (a SequenceFile of Text)
    ranks/00000/…/host, domain   the same for hosts and registrable domains (host_ranks.py)

This module does without numpy, so that `crawlctl rank --show` starts quickly.
"""

from __future__ import annotations

from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile, StoreError
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.state.entry_source import EntrySource
from crawlctl.pipeline.state.kinds import RANKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

ALIGNED, BY_URL, BY_HOST, BY_DOMAIN = "/ranks", "/url", "/host", "/domain"


def first_ranks(store: Store, files: Iterable[FileEntry], by: str, top: int) -> list[tuple[str, float]]:
    """Return the names with the highest ranks, by `url`, `host` or `domain`."""
    tables = [entry for entry in files if entry.kind == RANKS and entry.name.endswith(f"/{by}")]
    if not tables:
        raise StoreError(f"{store.uri} has no ranks yet; rank it with `crawlctl rank --store {store.uri}`")
    ranked = merge(*(_rows(store, entry) for entry in tables), key=lambda row: -row[1])
    return list(islice(ranked, top))


def _rows(store: Store, entry: FileEntry) -> Iterator[tuple[str, float]]:
    for block in SequenceFileReader(EntrySource(store, entry)).blocks():
        for name, rank in zip(block.keys, block.values, strict=True):
            try:
                yield name.decode(), float(rank)
            except ValueError as err:
                raise CorruptFile(store.locate(entry.name), block.offset, f"not a rank ({err})") from err
