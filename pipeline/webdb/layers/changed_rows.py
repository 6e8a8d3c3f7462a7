"""Which rows of a WebDB part have changed since a layer was the newest, for whoever wants to read only these.

Remember `newest_number` of the files of a partition (layer.py) together with what you made of its part, and
ask with it the next time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.webdb.layers.layer import layers_of
from crawlctl.pipeline.webdb.part import WebDbPart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


def changed_rows(store: Store, files: Iterable[FileEntry], since: int) -> WebDbPart | None:
    """Return the rows of a partition that were written since the layer with the number `since`, as a part.

    It has each row once, as it is now, in key order; it may have no rows. A new score alone is no change.
    None means that it is not known which rows have changed: the whole part was written, rows have left it,
    or layers were merged that are older than the layer `since` and newer.
    """
    newer = [layer for layer in layers_of(files, store.uri) if layer.number > since]
    if any(layer.since <= since for layer in newer):
        return None
    return WebDbPart(store, newer)
