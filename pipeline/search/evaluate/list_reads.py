"""Reads posting lists: those of a query at once, since from a remote store each read costs a trip."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.segment.segment_files import POSTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.term_info import TermPlace
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.parallel_reads import ParallelReads

_JOINED_GAP = 16 << 10  # reading so much in vain takes less time than another request


class Want(NamedTuple):
    """A list to be read, with its positions or without."""

    place: TermPlace
    positions: bool


class _Stretch(msgspec.Struct, frozen=True):
    """Bytes of the postings of a segment, and the lists in them."""

    segment: int
    start: int
    end: int
    wants: list[Want]


class ListReader:
    """The posting lists of the segments of an index, as bytes."""

    def __init__(self, store: Store, segments: Sequence[Segment], parallel: ParallelReads) -> None:
        self._store = store
        self._segments = segments
        self._parallel = parallel
        self._sources: dict[int, RangedSource] = {}

    def read(self, wants: Iterable[Want]) -> dict[TermPlace, tuple[bytes, bytes]]:
        """Return the documents part of each list, and the positions part of those it is wanted of."""
        with_positions: dict[TermPlace, bool] = {}
        for place, positions in wants:
            with_positions[place] = positions or with_positions.get(place, False)
        found: dict[TermPlace, tuple[bytes, bytes]] = {}
        stored: list[Want] = []
        for want in map(Want._make, with_positions.items()):
            if want.place.inlined:
                found[want.place] = _cut(want.place.inlined, 0, want)
            else:
                stored.append(want)
        if stored:
            stretches = _stretches(stored, _JOINED_GAP if self._parallel else 0)
            for stretch, data in zip(stretches, self._parallel.map(self._read, stretches), strict=True):
                for want in stretch.wants:
                    found[want.place] = _cut(data, want.place.offset - stretch.start, want)
        return found

    @contextmanager
    def damage(self, place: TermPlace) -> Iterator[None]:
        """Name the file and the place where a list turns out not to be one."""
        try:
            yield
        except ValueError as err:
            entry = self._segments[place.segment].entries[POSTINGS]
            raise CorruptFile(self._store.locate(entry.name), place.offset, str(err)) from err

    def _read(self, stretch: _Stretch) -> bytes:
        source = self._source(stretch.segment)
        length = stretch.end - stretch.start
        data = source.read(stretch.start, length)
        if len(data) != length:
            raise CorruptFile(source.name, stretch.start, f"{length} bytes should be there, {len(data)} are")
        return data

    def _source(self, segment: int) -> RangedSource:
        source = self._sources.get(segment)
        if source is None:
            files = self._segments[segment]
            opened = self._store.open(files.entries[POSTINGS].name)
            source = self._sources[segment] = files.checked(opened, POSTINGS)
        return source


def _stretches(wants: list[Want], gap: int) -> list[_Stretch]:
    """Return the reads that bring all lists; those that lie close to each other take one."""
    stretches: list[_Stretch] = []
    for want in sorted(wants, key=lambda want: (want.place.segment, want.place.offset)):
        place = want.place
        end = place.offset + place.documents_bytes + (place.positions_bytes if want.positions else 0)
        last = stretches[-1] if stretches else None
        if last is not None and last.segment == place.segment and place.offset <= last.end + gap:
            last.wants.append(want)
            stretches[-1] = _Stretch(last.segment, last.start, max(end, last.end), last.wants)
        else:
            stretches.append(_Stretch(place.segment, place.offset, end, [want]))
    return stretches


def _cut(data: bytes, start: int, want: Want) -> tuple[bytes, bytes]:
    middle = start + want.place.documents_bytes
    end = middle + want.place.positions_bytes
    return data[start:middle], data[middle:end] if want.positions else b""
