"""What a crawl has recorded of each host, as lines in which a test looks for a reason."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from crawlctl.pipeline.net.hosts import host_of
from crawlctl.pipeline.webdb.hosts import find_host
from crawlctl.tests.comparison import web_entries

if TYPE_CHECKING:
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.snapshots import Snapshot


def recorded(store: Store, snapshot: Snapshot) -> dict[str, list[str]]:
    """Return for each host a line for each of its URLs, and one for the host itself."""
    lines: defaultdict[str, list[str]] = defaultdict(list)
    for url, entry in web_entries(store, snapshot):
        told = f"{url} {entry.status.name.lower()} {entry.code} {entry.reason}"
        lines[host_of(url)].append(f"{told} {entry.redirect_to}".rstrip())
    for host in lines:
        if state := find_host(store, snapshot, host):
            schemes = ",".join(sorted(state.robots))
            lines[host].append(
                f"host: {state.pages} pages, {state.failures} failures, robots of {schemes}, {state.reason}"
            )
    return dict(lines)
