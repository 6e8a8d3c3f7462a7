"""Which pages are asked for only if they have changed.

For most their entry says so. A duplicate has no document of its own, so a 304 is of use only while the page
that stands for it, its leader, is live: with the same content, or as the page that the duplicate names in
its place. The leaders of all pages that are due are looked up before the first request, in the order in which
they lie in the part: so a block of it is inflated once, and not for every page anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.net.hosts import webdb_key
from crawlctl.pipeline.webdb.records import STATUS_BYTE, Status, decode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.fetch.part import PartRows
    from crawlctl.pipeline.fetch.selection import Due
    from crawlctl.pipeline.webdb.records import WebEntry


class Conditions:
    """The validators to send for the pages of a task."""

    def __init__(self, rows: PartRows, due: Iterable[Due]) -> None:
        self._signatures = _live_leaders(rows, due)

    def validators(self, entry: WebEntry) -> tuple[str, str]:
        """Return the ETag and Last-Modified to send, empty where a 304 would not do."""
        if entry.status is Status.DUPLICATE and not self._is_led(entry):
            return "", ""
        return entry.validators

    def _is_led(self, entry: WebEntry) -> bool:
        """Whether the leader of a duplicate may stand for it until the next visit."""
        signature = self._signatures.get(entry.canonical)
        if signature is None:
            return False
        return entry.canonical == entry.names or (entry.signature == signature != b"")


def _live_leaders(rows: PartRows, due: Iterable[Due]) -> dict[str, bytes]:
    """Return the live ones of the leaders of duplicates that are due, and their signatures."""
    entries = (
        decode_entry(one.value, rows.name) for one in due if one.value[STATUS_BYTE] == Status.DUPLICATE
    )
    wanted = {webdb_key(entry.canonical): entry.canonical for entry in entries if entry.canonical}
    leaders: dict[str, bytes] = {}
    for key in sorted(wanted):
        packed = rows.get(key)
        leader = decode_entry(packed, rows.name) if packed else None
        if leader is not None and leader.live:
            leaders[wanted[key]] = leader.signature
    return leaders
