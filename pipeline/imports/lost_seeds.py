"""Finds out which pages of an archive were the seeds that a damaged part of the WebDB has lost.

The counters of the part, which the snapshot has, say how many seeds each host had. Seeds are fetched first,
so the pages of a host that were archived first were its seeds.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.formats.warc.warc_reader import WarcReader
from crawlctl.pipeline.urls.hosts import host_of_key, partition_of, webdb_key
from crawlctl.pipeline.webdb.part import PartRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.formats.warc.warc_reader import WarcRecord
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


def lost_seeds(
    store: Store, snapshot: Snapshot, archives: Iterable[RangedSource], lost: Mapping[str, int]
) -> frozenset[bytes]:
    """Return the WebDB keys of the seeds that were lost; `lost` is their number by host."""
    if not lost:
        return frozenset()
    first: defaultdict[str, dict[bytes, str]] = defaultdict(dict)  # when each page was archived first
    for record in (record for source in archives for record in WarcReader(source)):
        if (key := _key(record)) and (host := host_of_key(key)) in lost:
            date = record.header("WARC-Date") or ""
            first[host][key] = min(date, first[host].get(key, date))
    found = (_seeds(store, snapshot, dates, lost[host]) for host, dates in first.items())
    return frozenset(chain.from_iterable(found))


def _seeds(store: Store, snapshot: Snapshot, dates: Mapping[bytes, str], count: int) -> Iterator[bytes]:
    """Yield the first pages of a host that the WebDB does not know; at equal times the shorter URL first."""
    host = host_of_key(next(iter(dates)))
    rows = PartRows(store, snapshot, partition_of(host, snapshot.partitions))
    unknown = (key for key in dates if rows.get(key) is None)
    yield from sorted(unknown, key=lambda key: (dates[key], len(key), key))[:count]


def _key(record: WarcRecord) -> bytes | None:
    if record.type != "response" or not record.url:
        return None
    try:
        return webdb_key(record.url)
    except UrlError:
        return None
