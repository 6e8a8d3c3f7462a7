"""Tests that a store lets only one writer create a file; some S3 servers ignore If-None-Match."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.state.layout import probe_name

if TYPE_CHECKING:
    from crawlctl.pipeline.store.base import Store


def require_exclusive_create(store: Store) -> None:
    """Create a file twice with different content, and raise an error unless the second try is refused."""
    name = probe_name()
    first, second = os.urandom(16), os.urandom(16)
    won = store.create(name, first), store.create(name, second)
    found = store.read(name)
    store.delete([name])
    if won != (True, False) or found != first:
        raise StoreUnavailable(
            f"{store.uri}: the service overwrites a file that it should create only if absent, so two runs "
            "could damage a crawl; use one that honours If-None-Match"
        )
