"""Which pages are requested only if they have changed, and with which ETag and Last-Modified.

For most pages their own entry decides. But a duplicate has no document of its own: another page, its leader,
is in the index for it. So a 304 is useful only while the leader is live, and either has the same content or
is the page that the duplicate names as canonical. The leaders of all due pages are looked up before the first
request, in the order in which they lie in the part. So each block of the part is inflated once, not once per
page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.urls.hosts import url_of_key, webdb_key
from crawlctl.pipeline.webdb.packed import STATUS
from crawlctl.pipeline.webdb.records import Status, decode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.fetch.select.selection import Due
    from crawlctl.pipeline.webdb.part import PartRows
    from crawlctl.pipeline.webdb.records import WebEntry


MAX_STEPS = 8  # from a duplicate to its leader: a page may name a page that names another page


class Validators:
    """The ETag and Last-Modified values to send for the due pages of a task."""

    def __init__(self, rows: PartRows, due: Iterable[Due]) -> None:
        entries = (decode_entry(one.value, rows.name) for one in due if _is_duplicate(one))
        self._leaders = _leaders(rows, {entry.canonical for entry in entries if entry.canonical})

    def of(self, entry: WebEntry) -> tuple[str, str]:
        """Return the ETag and Last-Modified to send, both empty if a 304 would be useless."""
        if entry.status is Status.DUPLICATE and not self._is_led(entry):
            return "", ""
        return entry.validators

    def _is_led(self, entry: WebEntry) -> bool:
        """Return whether the leader of a duplicate may stand for it until the next visit."""
        leader = self._leaders.get(entry.canonical)
        if entry.canonical != entry.names:
            return leader is not None and leader.live and leader.signature == entry.signature != b""
        for _ in range(MAX_STEPS):
            if leader is None or leader.live:
                break
            leader = self._leaders.get(leader.canonical)
        return leader is not None and leader.live and leader.has_words >= entry.has_words


def _is_duplicate(due: Due) -> bool:
    return due.value[STATUS] == Status.DUPLICATE


def _leaders(rows: PartRows, wanted: set[str]) -> dict[str, WebEntry]:
    """Return the entries of the pages in `wanted`, and of their leaders if they are duplicates themselves."""
    leaders: dict[str, WebEntry] = {}
    for _ in range(MAX_STEPS):
        further = set()
        for key in sorted(map(webdb_key, wanted)):
            packed = rows.get(key)
            if packed is not None:
                leader = leaders[url_of_key(key)] = decode_entry(packed, rows.name)
                if leader.status is Status.DUPLICATE and leader.canonical:
                    further.add(leader.canonical)
        wanted = further - leaders.keys()
    return leaders
