"""The neighbours of a URL: its document, the pages that link to it, and pages with the same content."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.inlinks import inlinks, stored_links
from crawlctl.pipeline.index.lookup import find_document, similar_to
from crawlctl.pipeline.urls.hosts import host_of, partition_of, url_of_key
from crawlctl.pipeline.webdb.packed import STATUS
from crawlctl.pipeline.webdb.part import lookup, open_part
from crawlctl.pipeline.webdb.records import LIVE, Status, decode_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import WebEntry

MAX_SHOWN = 10
LINKING = LIVE | {Status.DUPLICATE}


@dataclass(frozen=True)
class Linking:
    """A page that links to the URL."""

    url: str
    nofollow: bool


@dataclass(frozen=True)
class Neighbours:
    """Neighbours of a URL, at most MAX_SHOWN each; `canonical` leads the duplicates, maybe the URL itself."""

    document: DocRecord | None
    linked_from: tuple[Linking, ...]
    canonical: str
    duplicates: tuple[str, ...]
    similar: tuple[str, ...]  # in its group of near duplicates, over the whole crawl


def neighbours_of(store: Store, snapshot: Snapshot, url: str, entry: WebEntry | None) -> Neighbours:
    """Return the neighbours of a URL; this reads all links of the crawl."""
    partition = partition_of(host_of(url), snapshot.partitions)
    files = [file for file in snapshot.files if file.partition == partition]
    is_duplicate = entry is not None and entry.status is Status.DUPLICATE
    canonical = (entry.canonical if entry and is_duplicate else "") or url
    others = (one for one in _duplicates(store, snapshot, canonical) if one != url)
    duplicates = tuple(islice(others, MAX_SHOWN))
    return Neighbours(
        find_document(store, files, url) if entry and entry.live else None,
        tuple(islice(_linking(store, snapshot, url), MAX_SHOWN)),
        canonical if is_duplicate or duplicates else "",
        duplicates,
        tuple(islice(similar_to(store, snapshot.files, url), MAX_SHOWN)),
    )


def _linking(store: Store, snapshot: Snapshot, url: str) -> Iterator[Linking]:
    """Yield the pages whose current version links to the URL; older versions do not count."""
    seen = {url}
    for record, nofollow in inlinks(stored_links(store, snapshot.files), url):
        if record.url in seen:
            continue
        entry = lookup(store, snapshot, record.url)
        if entry and entry.status in LINKING and entry.signature == record.signature:
            seen.add(record.url)
            yield Linking(record.url, nofollow)


def _duplicates(store: Store, snapshot: Snapshot, canonical: str) -> Iterator[str]:
    """Yield the duplicates of a canonical URL; they lie in the same partition."""
    part = open_part(store, snapshot, partition_of(host_of(canonical), snapshot.partitions))
    if part is None:
        return
    wanted = canonical.encode()
    for block in part.blocks():
        for key, value in zip(block.keys, block.values, strict=True):
            if value[STATUS] != Status.DUPLICATE or wanted not in value:
                continue  # most entries need no decoding
            if decode_entry(value, part.name, block.offset).canonical == canonical:
                yield url_of_key(key)
