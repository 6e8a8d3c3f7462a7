"""TitleTables: the title tables of all segments, with the priors by which their entries are ranked."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.index.segment.segment_files import TITLES
from crawlctl.pipeline.index.words.title_table import TitleTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.index.words.title_table import TitleEntry
    from crawlctl.pipeline.search.evaluate.index_reader import IndexReader

MAX_BYTES = (
    32 << 20
    # the limit for all tables together, packed; in a very large crawl only titles of the largest segments are
    # offered
)
_SAME = 4  # how many entries with the same words a table may have


class RankedTitle(NamedTuple):
    """A title or heading, and the prior of its document."""

    prior: int
    entry: TitleEntry


class TitleTables:
    """The titles and headings of an open index; segments of older versions have none."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader
        self._segments = list(_affordable(reader))
        self._tables = reader.parallel.map(self._read, self._segments)

    def beginning_with(self, prefix: str, limit: int) -> list[RankedTitle]:
        """Return the titles and headings whose words begin with a prefix, those of the best pages first.

        If several entries have the same words, only the best entry is returned.
        """
        found = sorted(
            self._best(prefix, limit), key=lambda one: (-one.prior, one.entry.place, len(one.entry.text))
        )
        first = {one.entry.key: one for one in reversed(found)}
        return [one for one in found if first[one.entry.key] is one][:limit]

    def _best(self, prefix: str, limit: int) -> Iterator[RankedTitle]:
        for segment, table in zip(self._segments, self._tables, strict=True):
            places = table.beginning_with(prefix)
            ordinals = table.ordinals[places.start : places.stop]
            priors = self._reader.priors.get(segment)
            weights = bytes(len(ordinals)) if priors is None else bytes(map(priors.__getitem__, ordinals))
            dead = self._reader.tombstones.get(segment)
            for at in nlargest(_SAME * limit, range(len(ordinals)), key=weights.__getitem__):
                if dead is None or ordinals[at] not in dead:
                    yield RankedTitle(weights[at], table.entry(places.start + at))

    def _read(self, segment: int) -> TitleTable:
        files = self._reader.segments[segment]
        name = files.entries[TITLES].name
        return TitleTable(self._reader.store.read(name), files.documents, self._reader.store.locate(name))


def _affordable(reader: IndexReader) -> Iterator[int]:
    """Yield the numbers of segments with titles, the largest first, as long as there is room for them."""
    sizes = {
        number: segment.entries[TITLES].bytes
        for number, segment in enumerate(reader.segments)
        if TITLES in segment.entries
    }
    room = MAX_BYTES
    for number in sorted(sizes, key=lambda number: -reader.segments[number].documents):
        room -= sizes[number]
        if room >= 0:
            yield number
