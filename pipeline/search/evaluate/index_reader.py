"""The segments of one snapshot as the evaluators read them: postings, columns, tombstones and priors."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.priors import read_priors
from crawlctl.pipeline.index.segment.segment_files import COLUMNS
from crawlctl.pipeline.index.segment.tombstones import read_tombstones
from crawlctl.pipeline.search.evaluate.list_reads import ListReader
from crawlctl.pipeline.state.kinds import INTERLEAVED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crawlctl.pipeline.index.segment.columns import Hosts
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.tombstones import Tombstones
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.parallel_reads import ParallelReads


_HASHES = "hashes"  # the name of the column
_SHORT_COLUMN = 1 << 15  # numbers; to read one of them from a remote store takes as long as to read all
# if more than 1/64 of a column is needed, reading all of it is faster than reading number by number
_FEW_OF = 64


class IndexReader:
    """The segments of a snapshot, open for reading as long as its Searcher is.

    A segment has a number, its index in `segments`. A document is known by its ordinal in its segment and by
    its number in the whole index: the documents of all segments are numbered consecutively, segment after
    segment.
    """

    def __init__(
        self, store: Store, snapshot: Snapshot, segments: Sequence[Segment], parallel: ParallelReads
    ) -> None:
        self.store = store
        self.segments = segments
        self.parallel = parallel
        interleaved = next(iter(snapshot.files_of(INTERLEAVED)), None)
        self.lists = ListReader(store, segments, parallel, interleaved)
        self.bases = list(accumulate((segment.documents for segment in segments), initial=0))
        self.size = self.bases.pop()  # the highest document number plus 1
        self._snapshot = snapshot
        self._columns: dict[int, ColumnReader] = {}
        self._asked = Counter[tuple[str, int]]()  # how many single numbers were requested, by column
        self._numbers: dict[tuple[str, int], Sequence[int]] = {}
        self._dates: dict[int, Sequence[int]] = {}
        self._hosts: dict[int, Hosts] = {}

    @cached_property
    def documents(self) -> int:
        """The number of documents that can be found."""
        return self.size - sum(tombstones.dead for tombstones in self.tombstones.values())

    @cached_property
    def tombstones(self) -> dict[int, Tombstones]:
        """The tombstones, by segment; segments without deleted documents are missing."""
        found = read_tombstones(self.store, self._snapshot.files)
        return {
            number: found[segment.name]
            for number, segment in enumerate(self.segments)
            if segment.name in found
        }

    @cached_property
    def priors(self) -> dict[int, bytes]:
        """The priors, by segment: one byte per document; segments without ranks are missing."""
        readers = read_priors(self.store, self._snapshot.files)
        found: dict[int, bytes] = {}
        for number, segment in enumerate(self.segments):
            reader = readers.get(segment.partition)
            priors = reader.of(segment.name) if reader is not None else None
            if priors is not None:
                found[number] = priors
        return found

    def locate(self, document: int) -> tuple[int, int]:
        """Return the segment of a document and its ordinal there."""
        segment = bisect_right(self.bases, document) - 1
        return segment, document - self.bases[segment]

    def columns(self, segment: int) -> ColumnReader:
        """Return the columns of a segment."""
        if segment not in self._columns:
            source = self.segments[segment].held_open(self.store, COLUMNS)
            self._columns[segment] = ColumnReader(source, self.segments[segment].documents)
        return self._columns[segment]

    def dates(self, segment: int) -> Sequence[int]:
        """Return when each document of a segment was last modified or, if that is unknown, fetched."""
        if segment not in self._dates:
            columns = self.columns(segment)
            pairs = zip(columns.column("modified"), columns.column("fetched"), strict=True)
            self._dates[segment] = [modified or fetched for modified, fetched in pairs]
        return self._dates[segment]

    def numbers(self, column: str, segment: int) -> Sequence[int]:
        """Return a whole column of a segment; it is read once and kept as long as the index is open."""
        key = column, segment
        if key not in self._numbers:
            self._numbers[key] = self.columns(segment).column(column)
        return self._numbers[key]

    def number(self, column: str, segment: int, ordinal: int) -> int:
        """Return a number of a column; a column of which many are requested is read whole and kept."""
        if self._are_many(column, segment, 1):
            return self.numbers(column, segment)[ordinal]
        return self.columns(segment).number(column, ordinal)

    def _are_many(self, column: str, segment: int, asked: int) -> bool:
        """Count `asked` more requests for single numbers; return whether the column is better read whole."""
        self._asked[column, segment] += asked
        return self._asked[column, segment] * _FEW_OF >= self.segments[segment].documents

    def numbers_of(self, column: str, documents: Sequence[int]) -> list[int]:
        """Return the values of rising documents in a column; it is read whole in each of their segments."""
        some = list(self.by_segment(documents))
        columns = self.parallel.map(lambda segment: self.numbers(column, segment), [one for one, _ in some])
        found: list[int] = []
        for (segment, owned), numbers in zip(some, columns, strict=True):
            base = self.bases[segment]
            found += [numbers[document - base] for document in owned]
        return found

    def fetched_numbers(self, column: str) -> Mapping[int, Sequence[int]]:
        """Return a column of all pages that were fetched, by segment."""
        fetched = list(self.fetched_ranges())
        columns = self.parallel.map(lambda segment: self.numbers(column, segment), fetched)
        return dict(zip(fetched, columns, strict=True))

    def url_hashes(self, documents: Iterable[int]) -> dict[int, int]:
        """Return the stable_hash of the URL of each document, by which equal scores are ordered.

        A few hashes are read one by one, in parallel. If more hashes of a segment are needed, its whole
        column is read. So is a short column of a remote store, which is in the compound file.
        """
        few: list[int] = []
        many: dict[int, Sequence[int]] = {}
        for segment, some in self.by_segment(sorted(documents)):
            is_short = self.parallel and self.segments[segment].documents <= _SHORT_COLUMN
            if self._are_many(_HASHES, segment, len(some)) or is_short:
                many[segment] = some
            else:
                few += some
        found = dict(zip(few, self.parallel.map(self._url_hash, few), strict=True))
        columns = self.parallel.map(lambda segment: self.numbers(_HASHES, segment), many)
        for (segment, some), column in zip(many.items(), columns, strict=True):
            found.update((document, column[document - self.bases[segment]]) for document in some)
        return found

    def by_segment(self, documents: Sequence[int]) -> Iterator[tuple[int, Sequence[int]]]:
        """Split rising documents by segment: yield each segment and the documents that it has."""
        start = 0
        while start < len(documents):
            segment, _ = self.locate(documents[start])
            after = self.bases[segment] + self.segments[segment].documents
            end = bisect_left(documents, after, start)
            yield segment, documents[start:end]
            start = end

    def _url_hash(self, document: int) -> int:
        segment, ordinal = self.locate(document)
        return self.columns(segment).number(_HASHES, ordinal)

    def host_ranges(self, host: str) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Return the ranges of ordinals of a host and its subdomains, by segment."""
        numbers = range(len(self.segments))
        found = self.parallel.map(lambda number: self._ranges(number, host.encode()), numbers)
        return {number: ranges for number, ranges in enumerate(found) if ranges}

    def hosts(self, segment: int) -> Hosts:
        """Return the hosts of a segment."""
        if segment not in self._hosts:
            self._hosts[segment] = self.columns(segment).hosts()
        return self._hosts[segment]

    def fetched_ranges(self) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Return the range of all ordinals, by segment, without the segments of pages not fetched yet."""
        return {
            number: ((0, segment.documents),)
            for number, segment in enumerate(self.segments)
            if not segment.frontier
        }

    def _ranges(self, segment: int, host: bytes) -> tuple[tuple[int, int], ...]:
        hosts = self.hosts(segment)
        ranges: list[tuple[int, int]] = []
        for index, name in enumerate(hosts.names):
            if _belongs(name, host):
                start, end = hosts.bounds(index, self.segments[segment].documents)
                if ranges and ranges[-1][1] == start:
                    start = ranges.pop()[0]
                ranges.append((start, end))
        return tuple(ranges)


def _belongs(name: bytes, host: bytes) -> bool:
    """Return whether `name` is the host or a subdomain of it; a host without a port stands for all ports."""
    if b":" not in host.rpartition(b"]")[2]:
        bare, colon, port = name.rpartition(b":")
        name = bare if colon and port.isdigit() else name
    return name == host or name.endswith(b"." + host)
