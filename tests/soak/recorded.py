"""What a crawl has recorded of each host, as lines in which a test looks for a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.pipeline.webdb.host_table import find_host
from crawlctl.tests.comparison import web_entries

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


def recorded(store: Store, snapshot: Snapshot, hosts: Iterable[str]) -> dict[str, list[str]]:
    """Return for each of these hosts a line for each of its URLs, and one for the host itself."""
    lines: dict[str, list[str]] = {host: [] for host in hosts}
    for url, entry in web_entries(store, snapshot):
        if (told := lines.get(host_of(url))) is not None:
            told.append(
                f"{url} {entry.status.name.lower()} {entry.code} {entry.reason} {entry.redirect_to}".rstrip()
            )
    for host, told in lines.items():
        if state := find_host(store, snapshot, host):
            schemes = ",".join(sorted(state.robots))
            told.append(
                f"host: {state.pages} pages, {state.failures} failures, robots of {schemes}, {state.reason}"
            )
    return lines
