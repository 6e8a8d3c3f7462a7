"""Which pages are asked for only if they have changed.

For most their entry says so. A page with the content of another one has no document of its own, so a 304 is
of use only while that other page, its leader, is live and has the content still. The leaders of all pages
that are due are looked up before the first request, in the order in which they lie in the part: so a block
of it is inflated once, and not for every page anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.net.hosts import webdb_key
from crawlctl.pipeline.webdb.records import STATUS_BYTE, Status, decode_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlctl.pipeline.fetch.part import PartRows
    from crawlctl.pipeline.fetch.selection import Due
    from crawlctl.pipeline.webdb.records import WebEntry


class Conditions:
    """The validators to send for the pages of a task; `in_scope` is what a page may name in its place."""

    def __init__(self, rows: PartRows, due: Iterable[Due], in_scope: Callable[[str], bool]) -> None:
        self._in_scope = in_scope
        self._led = _led(rows, due)

    def validators(self, entry: WebEntry) -> tuple[str, str]:
        """Return the ETag and Last-Modified to send, empty where a 304 would not do."""
        if entry.status is Status.DUPLICATE and not self._stands_for(entry):
            return "", ""
        return entry.validators

    def _stands_for(self, entry: WebEntry) -> bool:
        """Whether the page that a duplicate gave way to may stand for it until the next visit."""
        if entry.redirect_to and entry.redirect_to == entry.canonical:
            # By the page's own word, which a 304 renews; only our rules can have changed.
            return self._in_scope(entry.canonical)
        return (entry.canonical, entry.signature) in self._led


def _led(rows: PartRows, due: Iterable[Due]) -> set[tuple[str, bytes]]:
    """Return leader and signature of the duplicates that are due and have a leader still."""
    wanted: dict[bytes, set[tuple[str, bytes]]] = {}
    for one in due:
        if one.value[STATUS_BYTE] == Status.DUPLICATE:
            entry = decode_entry(one.value, rows.name)
            if entry.canonical and entry.signature:
                wanted.setdefault(webdb_key(entry.canonical), set()).add((entry.canonical, entry.signature))
    led: set[tuple[str, bytes]] = set()
    for key in sorted(wanted):
        packed = rows.get(key)
        leader = decode_entry(packed, rows.name) if packed else None
        if leader is not None and leader.live:
            led.update(pair for pair in wanted[key] if pair[1] == leader.signature)
    return led
