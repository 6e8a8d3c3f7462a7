"""The rows of a part that a review (merge/review.py) has to see, if only a few pages have changed.

A verdict on a page depends on the page, on the pages that it names or that lead it, on the pages that these
name, and so on. So a page can get a verdict only if one of them has changed: in this round, or in the round
before, whose review did not yet know the leaders it made. The rows to see are

1. the pages that have changed, and all pages that lead to them by names or as duplicates,
2. the live pages with a signature of this round,
3. the pages that all these name, or that lead them, to the end of each chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.sequencefile.block_body import Block
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.extract.extract_file import hashed
from crawlctl.pipeline.webdb.packed import STATUS, plain_signature
from crawlctl.pipeline.webdb.records import LIVE, Kind, Status, decode_entry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from crawlctl.pipeline.webdb.extract.part_extract import PartExtract
    from crawlctl.pipeline.webdb.records import Outcome


def review_block(
    extract: PartExtract,
    outcomes: Iterable[tuple[bytes, Outcome]],
    fetched: Collection[bytes],
    unsettled: Iterable[bytes],
) -> Block:
    """Return these rows; `fetched` are the signatures of this round, `unsettled` the pages changed before."""
    search = _Search(extract)
    changed = set(unsettled)
    for key, outcome in outcomes:
        if outcome.kind is not Kind.NOT_MODIFIED:
            changed.add(key)
            search.ahead.update(map(webdb_key, {outcome.named, outcome.target, outcome.canonical} - {""}))
    search.look_up(changed)
    search.add_followers(changed)
    search.add(extract.related("signatures", "signature_rows", hashed(sorted(fetched))))
    search.add_leaders()
    keys = sorted(search.rows)
    return Block(0, keys, [search.rows[key] for key in keys])


class _Search:
    """The rows found so far, and the keys of the pages that they name."""

    def __init__(self, extract: PartExtract) -> None:
        self.rows: dict[bytes, bytes] = {}
        self.ahead: set[bytes] = set()  # may be in `rows` already, or not in the part
        self._extract = extract
        self._looked_up: set[bytes] = set()

    def look_up(self, keys: Iterable[bytes]) -> None:
        """Add the rows of those keys that the part has."""
        wanted = sorted({*keys} - self._looked_up - self.rows.keys())
        self._looked_up.update(wanted)
        self.add(self._extract.rows(wanted).items())

    def add(self, rows: Iterable[tuple[bytes, bytes]]) -> list[bytes]:
        """Add rows, and return the keys of those that are new."""
        new = [(key, value) for key, value in rows if key not in self.rows]
        self.rows.update(new)
        for _, value in new:
            self.ahead.update(map(webdb_key, _named_in(value, self._extract.part.name)))
        return [key for key, _ in new]

    def add_followers(self, keys: Iterable[bytes]) -> None:
        """Add the pages that name these pages or are led by them, then the followers of the added pages."""
        wave = sorted(keys)
        while wave:
            wave = self.add(self._extract.related("targets", "target_rows", hashed(wave)))

    def add_leaders(self) -> None:
        """Add the pages that the rows name or that lead them, to the end of each chain."""
        while self.ahead:
            wave, self.ahead = self.ahead, set()
            self.look_up(wave)


def _named_in(value: bytes, name: str) -> set[str]:
    """Return the pages that a live page or a duplicate names, and the leader of a duplicate."""
    is_duplicate = value[STATUS] == Status.DUPLICATE
    if not is_duplicate and (value[STATUS] not in LIVE or plain_signature(value) is not None):
        return set()
    entry = decode_entry(value, name)
    return {entry.names, entry.canonical if is_duplicate else ""} - {""}
