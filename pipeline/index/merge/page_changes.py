"""The pages that a merge looks at if it knows which rows of the WebDB have changed since the last merge.

All other pages are as they were at the last merge, and so are their documents, tombstones and anchors. Such a
page is read only if its document is written again; it is looked up by its key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.index.merge.liveness import PageState, state_of
from crawlctl.pipeline.urls.hosts import stable_hash, url_in_key, webdb_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from crawlctl.pipeline.arrays.array_types import UInt64Array
    from crawlctl.pipeline.index.merge.sources import Source
    from crawlctl.pipeline.index.segment.tombstones import Tombstones
    from crawlctl.pipeline.webdb.part import WebDbPart

# Pages held in memory, about 100 MB; if more pages are needed, all pages are read one after the other.
MOST_AT_ONCE = 1 << 18

_READ_ALL = 3  # looking up one page takes about as long as reading this number of pages one after the other


class PageChanges(NamedTuple):
    """The pages of a partition that changed since the last merge, and a look-up of all other pages."""

    pages: Mapping[bytes, PageState | None]  # by key, in key order; None for a page that has no document
    find: Callable[[bytes], PageState | None]
    urls: int  # URLs of the partition

    @property
    def hashes(self) -> UInt64Array:
        """The hashes of the URLs of all changed pages."""
        found = (stable_hash(url_in_key(key)) for key in self.pages)
        return np.fromiter(found, np.uint64, len(self.pages))

    @property
    def states(self) -> Iterator[PageState]:
        """The changed pages that may have a document, in key order."""
        return (page for page in self.pages.values() if page is not None)


def changes_in(changed: WebDbPart, part: WebDbPart, urls: int) -> PageChanges | None:
    """Return the changes of a part with `urls` URLs; `changed` has the rows written since the last merge.

    None means that reading all pages takes less time.
    """
    if not _are_few(sum(layer.rows for layer in changed.layers), urls):
        return None

    def find(key: bytes) -> PageState | None:
        value = part.packed(key)
        return None if value is None else state_of(key, value, part.name)

    pages = {
        key: state_of(key, value, changed.name, block.offset)
        for block in changed.blocks()
        for key, value in zip(block.keys, block.values, strict=True)
    }
    return PageChanges(pages, find, urls)


def pages_to_decide(
    changes: PageChanges, merged: Iterable[Source], tombstones: Mapping[str, Tombstones]
) -> list[PageState] | None:
    """Return the live pages that changed, and those with a document in one of these sources, in key order.

    None means that all pages must be read: a run has a document of a page that is not known to have changed,
    or reading all pages costs less, because there are many documents.
    """
    sources = list(merged)
    runs = [source.column("hashes") for source in sources if source.is_run]
    if not np.isin(np.concatenate([*runs, np.zeros(0, np.uint64)]), changes.hashes).all():
        return None
    segments = [source for source in sources if not source.is_run]
    if not _are_few(sum(source.documents for source in segments), changes.urls):
        return None
    pages = {page.key: page for page in changes.states if page.live}
    keys = (webdb_key(url) for source in segments for url in _living(source, tombstones.get(source.name)))
    for key in sorted(key for key in keys if key not in changes.pages):
        page = changes.find(key)
        if page is not None and page.live:
            pages[key] = page
    return [pages[key] for key in sorted(pages)]


def _are_few(pages: int, urls: int) -> bool:
    return pages <= MOST_AT_ONCE and _READ_ALL * pages <= urls


def still_in(frontier: Source, tombstones: Tombstones | None, changes: PageChanges) -> Iterator[PageState]:
    """Yield the pages of a frontier segment that were in it after the last merge and have not changed."""
    keys = map(webdb_key, _living(frontier, tombstones))
    found = (changes.find(key) for key in sorted(keys) if key not in changes.pages)
    return (page for page in found if page is not None)


def _living(source: Source, dead: Tombstones | None) -> Iterator[str]:
    return (url for ordinal, url in source.urls() if dead is None or ordinal not in dead)
