"""Follows the command that uses a crawl, from another terminal or machine, until it ends."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.live.publisher import DISK_SECONDS, REMOTE_SECONDS
from crawlctl.pipeline.state.live.live_status import LiveView, look

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.store.base import Store


def follow(
    store: Store, clock: Callable[[], float] = time.time, sleep: Callable[[float], None] = time.sleep
) -> Iterator[LiveView]:
    """Yield a view each time the running command publishes its status, then a last view without a status.

    The last view says whether the command has died. A command that takes the lease later is not followed.
    """
    pause = (REMOTE_SECONDS if "://" in store.uri else DISK_SECONDS) / 2
    first = view = look(store, clock())
    while view.is_running and _owner(view) == _owner(first):
        yield view
        sleep(pause)
        view = look(store, clock())
    yield view if _owner(view) == _owner(first) else LiveView()


def _owner(view: LiveView) -> str | None:
    return view.holder.owner if view.holder else None
