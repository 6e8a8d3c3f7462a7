"""An index that is open for queries: the segments of one snapshot, and what is known of their documents."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile, StoreError
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.writables import pack_long
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.dictionary import DICTIONARY, Dictionary
from crawlctl.pipeline.index.segment.duplicate_groups import read_groups
from crawlctl.pipeline.index.segment.priors import read_priors
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, DOCS_DATA, DOCS_INDEX, segments_of
from crawlctl.pipeline.index.segment.stored_documents import decode_record
from crawlctl.pipeline.index.segment.tombstones import read_tombstones
from crawlctl.pipeline.search.evaluate.list_reads import ListReader
from crawlctl.pipeline.search.plan.lexicon import Lexicon
from crawlctl.pipeline.search.plan.wording import Wording
from crawlctl.pipeline.store.parallel_reads import ParallelReads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crawlctl.pipeline.index.segment.columns import Hosts
    from crawlctl.pipeline.index.segment.duplicate_groups import DuplicateGroups
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.index.segment.term_info import TermPlace
    from crawlctl.pipeline.index.segment.tombstones import Tombstones
    from crawlctl.pipeline.search.evaluate.vector_lists import VectorLists
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


class Searcher:
    """The segments of a snapshot; their documents are numbered through, segment after segment."""

    def __init__(self, store: Store, snapshot: Snapshot, *, remote: bool = False) -> None:
        self.store = store
        self.snapshot = snapshot
        self.parallel = ParallelReads(remote=remote)
        self._dictionary = Dictionary(store, snapshot.files_of(DICTIONARY))
        self.segments = self._numbered_segments()
        self.bases = list(accumulate((segment.documents for segment in self.segments), initial=0))
        self.size = self.bases.pop()  # one above the highest number of a document
        self.lists = ListReader(store, self.segments, self.parallel)
        self._docs: dict[int, MapFileReader] = {}
        self._columns: dict[int, ColumnReader] = {}
        self._dates: dict[int, Sequence[int]] = {}
        self._hosts: dict[int, Hosts] = {}

    @cached_property
    def documents(self) -> int:
        """The number of documents that can be found."""
        return self.size - sum(stones.dead for stones in self.dead.values())

    @property
    def wording(self) -> Wording:
        """Which terms words stand for."""
        return self.lexicon.wording

    @cached_property
    def lexicon(self) -> Lexicon:
        """What words stand for."""
        languages = Counter[str]()
        for segment in self.segments:
            languages.update(segment.languages)
        return Lexicon(self._dictionary, Wording(languages), self.parallel)

    @cached_property
    def dead(self) -> dict[int, Tombstones]:
        """The tombstones of the segments that have any, by number."""
        stones = read_tombstones(self.store, self.snapshot.files)
        return {
            number: stones[segment.name]
            for number, segment in enumerate(self.segments)
            if segment.name in stones
        }

    @cached_property
    def priors(self) -> dict[int, bytes]:
        """What the ranks of pages add to their scores, by segment, a byte a document."""
        readers = read_priors(self.store, self.snapshot.files)
        found: dict[int, bytes] = {}
        for number, segment in enumerate(self.segments):
            reader = readers.get(segment.partition)
            prior = reader.of(segment.name) if reader is not None else None
            if prior is not None:
                found[number] = prior
        return found

    @cached_property
    def groups(self) -> dict[int, DuplicateGroups]:
        """Which documents say nearly the same, by segment."""
        found = read_groups(self.store, self.snapshot.files)
        return {
            number: found[segment.name]
            for number, segment in enumerate(self.segments)
            if segment.name in found
        }

    @cached_property
    def vector_lists(self) -> VectorLists:
        """The lists that were decoded with numpy."""
        from crawlctl.pipeline.search.evaluate.vector_lists import VectorLists

        return VectorLists(self)

    def terms_from(self, start: bytes, stop: bytes | None) -> Iterator[tuple[bytes, list[TermPlace]]]:
        """Yield the terms from `start` on and below `stop`, with the places of their lists."""
        return self._dictionary.range(start, stop)

    def host_ranges(self, host: str) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Return the ordinals of a host and its subdomains, by segment."""
        found = self.parallel.map(lambda number: self._ranges(number, host.encode()), range(len(self.bases)))
        return {number: ranges for number, ranges in enumerate(found) if ranges}

    def locate(self, document: int) -> tuple[int, int]:
        """Return the segment and the ordinal of a document."""
        segment = bisect_right(self.bases, document) - 1
        return segment, document - self.bases[segment]

    def columns(self, segment: int) -> ColumnReader:
        """Return the columns of a segment."""
        if segment not in self._columns:
            source = self.segments[segment].open(self.store, COLUMNS)
            self._columns[segment] = ColumnReader(source, self.segments[segment].documents)
        return self._columns[segment]

    def dates(self, segment: int) -> Sequence[int]:
        """Return when each document was last modified, or else fetched."""
        if segment not in self._dates:
            columns = self.columns(segment)
            pairs = zip(columns.column("modified"), columns.column("fetched"), strict=True)
            self._dates[segment] = [modified or fetched for modified, fetched in pairs]
        return self._dates[segment]

    def records(self, documents: Iterable[int]) -> list[DocRecord]:
        """Return what is known of documents."""
        documents = list(documents)
        fresh = {self.locate(document)[0] for document in documents} - self._docs.keys()
        self._docs.update(zip(fresh, self.parallel.map(self._open_docs, fresh), strict=True))
        return self.parallel.map(self._record, documents)

    def close(self) -> None:
        """End the threads that read, and bring what is cached back to its bound."""
        self.parallel.close()
        if self.parallel:
            from crawlctl.pipeline.search.open.remote import RemoteFiles

            if isinstance(self.store, RemoteFiles):
                self.store.close()

    def _numbered_segments(self) -> list[Segment]:
        named = {segment.name: segment for segment in segments_of(self.snapshot.files)}
        names = self._dictionary.segments
        if set(names) != named.keys():
            odd = min(named.keys() ^ set(names))
            raise StoreError(
                f"{self.store.uri}: the dictionary and the snapshot do not agree about {odd}; "
                "write the dictionary anew with `crawlctl merge`"
            )
        return [named[name] for name in names]

    def _ranges(self, segment: int, host: bytes) -> tuple[tuple[int, int], ...]:
        if segment not in self._hosts:
            self._hosts[segment] = self.columns(segment).hosts()
        hosts = self._hosts[segment]
        ranges: list[tuple[int, int]] = []
        for place, name in enumerate(hosts.names):
            if _belongs(name, host):
                first, after = hosts.bounds(place, self.segments[segment].documents)
                if ranges and ranges[-1][1] == first:
                    first = ranges.pop()[0]
                ranges.append((first, after))
        return tuple(ranges)

    def _record(self, document: int) -> DocRecord:
        segment, ordinal = self.locate(document)
        place = self.columns(segment).number("places", ordinal)
        entry = self.segments[segment].entries[DOCS_DATA]
        value = self._docs[segment].get(pack_long(place))
        if value is None:
            raise CorruptFile(self.store.locate(entry.name), 0, f"it has no document {place}")
        return decode_record(value, self.store.locate(entry.name))

    def _open_docs(self, segment: int) -> MapFileReader:
        files = self.segments[segment]
        docs = MapFileReader(files.open(self.store, DOCS_DATA), files.open(self.store, DOCS_INDEX))
        docs.get(b"")  # reads its index, which several threads would else do at once
        return docs


def _belongs(name: bytes, host: bytes) -> bool:
    """Tell whether a host is another one or a subdomain of it; without a port, any port will do."""
    if b":" not in host.rpartition(b"]")[2]:
        bare, colon, port = name.rpartition(b":")
        name = bare if colon and port.isdigit() else name
    return name == host or name.endswith(b"." + host)
