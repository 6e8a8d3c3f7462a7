"""Which rows of a WebDB part have changed since a certain layer was the newest, so that only these are read.

A caller stores the `newest_number` of the files of a partition (layer.py) together with its result, and
passes it the next time.
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

    The part has each changed row once, in its current state, in key order; it may have no rows. A row with
    only a new score has not changed. None means that the changed rows are not known: the whole part was
    written, rows were removed, or a layer not newer than `since` was merged with a newer layer.
    """
    newer = [layer for layer in layers_of(files, store.uri) if layer.number > since]
    if any(layer.since <= since for layer in newer):
        return None
    return WebDbPart(store, newer)
