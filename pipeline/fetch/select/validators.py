"""Which pages are asked for only if they have changed.

For most their entry says so. A duplicate has no document of its own, so a 304 is of use only while the page
that stands for it, its leader, is live: with the same content, or as the page that the duplicate names in
its place. The leaders of all pages that are due are looked up before the first request, in the order in which
they lie in the part: so a block of it is inflated once, and not for every page anew.
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


MAX_STEPS = 8  # from a duplicate to the page that stands for it: a page may name one that names another


class Validators:
    """The validators to send for the pages of a task."""

    def __init__(self, rows: PartRows, due: Iterable[Due]) -> None:
        entries = (decode_entry(one.value, rows.name) for one in due if _is_duplicate(one))
        self._leaders = _leaders(rows, {entry.canonical for entry in entries if entry.canonical})

    def of(self, entry: WebEntry) -> tuple[str, str]:
        """Return the ETag and Last-Modified to send, empty where a 304 would not do."""
        if entry.status is Status.DUPLICATE and not self._is_led(entry):
            return "", ""
        return entry.validators

    def _is_led(self, entry: WebEntry) -> bool:
        """Whether the leader of a duplicate may stand for it until the next visit."""
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
    """Return the entries of pages and, where these are duplicates that have one, of their leaders."""
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
