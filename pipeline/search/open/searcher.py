"""An index that is open for queries: its segments, its dictionary and its stored documents."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, partial
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile, StoreError
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.writables import pack_long
from crawlctl.pipeline.index.segment.dictionary import Dictionary
from crawlctl.pipeline.index.segment.duplicate_groups import read_groups
from crawlctl.pipeline.index.segment.segment_files import DOCS_DATA, DOCS_INDEX, segments_of
from crawlctl.pipeline.index.segment.stored_documents import decode_packed
from crawlctl.pipeline.search.evaluate.group_table import GroupTable
from crawlctl.pipeline.search.evaluate.index_reader import IndexReader
from crawlctl.pipeline.search.evaluate.lru import LruCache
from crawlctl.pipeline.search.evaluate.site_names import SiteNames
from crawlctl.pipeline.search.plan.lexicon import Lexicon, WordTerms
from crawlctl.pipeline.search.rules.rules_file import read_rules
from crawlctl.pipeline.search.rules.search_rules import SearchRules
from crawlctl.pipeline.state.kinds import DICTIONARY
from crawlctl.pipeline.store.parallel_reads import ParallelReads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.stored_documents import PackedRecord
    from crawlctl.pipeline.search.evaluate.vector_lists import VectorLists
    from crawlctl.pipeline.search.open.title_tables import TitleTables
    from crawlctl.pipeline.search.open.word_tables import WordTables
    from crawlctl.pipeline.search.query.tree import Query
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

# How much a process with many queries remembers. With these limits a server process of a small crawl takes
# about 300 MB.
RECORD_BYTES = 40 << 20  # stored documents
LIST_BYTES = 28 << 20  # decoded posting lists: at least this limit; the same limit again holds for positions
_LIST_BYTES_A_DOCUMENT = 32  # the limit of a large index grows by this many bytes per document
_RECORD_OBJECTS = 4096  # about the bytes that the Python objects of a document take beside its text

_NOT_PARALLEL = ParallelReads(remote=False)


class Searcher:
    """The index of one snapshot; it answers any number of queries until it is closed."""

    def __init__(self, store: Store, snapshot: Snapshot, parallel: ParallelReads = _NOT_PARALLEL) -> None:
        self.store = store
        self.snapshot = snapshot
        self.parallel = parallel
        self._named = {segment.name: segment for segment in segments_of(snapshot.files)}
        self._dictionary = Dictionary(store, snapshot.files_of(DICTIONARY), self._named.keys())
        self.reader = IndexReader(store, snapshot, self._numbered_segments(), self.parallel)
        self._sites = SiteNames(self.reader)
        self._docs: dict[int, MapFileReader] = {}
        self._records: LruCache[int, PackedRecord] = LruCache(RECORD_BYTES)

    @property
    def documents(self) -> int:
        """The number of documents that can be found."""
        return self.reader.documents

    @cached_property
    def lexicon(self) -> Lexicon:
        """The terms of words and their posting lists."""
        languages = Counter[str]()
        for segment in self.reader.segments:
            languages.update(segment.languages)
        older = (number for number, segment in enumerate(self.reader.segments) if not segment.has_marks)
        formless = (number for number, segment in enumerate(self.reader.segments) if not segment.has_forms)
        words = WordTerms(languages)
        return Lexicon(self._dictionary, words, self.parallel, frozenset(older), frozenset(formless))

    @cached_property
    def words(self) -> WordTables:
        """The words of the index as they are written, for corrections and completions."""
        from crawlctl.pipeline.search.open.word_tables import WordTables

        return WordTables(self.store, self.snapshot, self.parallel)

    @cached_property
    def titles(self) -> TitleTables:
        """The titles and headings of pages, for completions."""
        from crawlctl.pipeline.search.open.title_tables import TitleTables

        return TitleTables(self.reader)

    @cached_property
    def groups(self) -> GroupTable:
        """The duplicate groups of all documents."""
        found = read_groups(self.store, self.snapshot.files)
        return GroupTable(
            (base, found[segment.name])
            for base, segment in zip(self.reader.bases, self.reader.segments, strict=True)
            if segment.name in found
        )

    @cached_property
    def rules(self) -> SearchRules:
        """The synonyms, pins, blocks and boosts of the crawl."""
        names = [segment.name for segment in self.reader.segments]
        return SearchRules(read_rules(self.store, self.snapshot), names, self.reader.bases)

    @cached_property
    def explicit(self) -> Mapping[int, Sequence[int]]:
        """How explicit each page is, by segment and ordinal; segments without any such page are missing."""
        numbers = range(len(self.reader.segments))
        columns = self.parallel.map(lambda number: self.reader.numbers("explicit", number), numbers)
        return {number: column for number, column in enumerate(columns) if any(column)}

    def ranges_of(self, documents: Iterable[int]) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Return documents as ranges of ordinals, by segment."""
        found: dict[int, tuple[tuple[int, int], ...]] = {}
        for segment, ordinal in map(self.reader.locate, sorted(documents)):
            found[segment] = (*found.get(segment, ()), (ordinal, ordinal + 1))
        return found

    @cached_property
    def vector_lists(self) -> VectorLists:
        """The posting lists that were decoded with numpy; to ask for them imports numpy."""
        from crawlctl.pipeline.search.evaluate.vector_lists import VectorLists

        return VectorLists(self.reader, max(LIST_BYTES, _LIST_BYTES_A_DOCUMENT * self.reader.size))

    def host_ranges(self, host: str) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Return the ranges of ordinals of a host and its subdomains, by segment."""
        return self.reader.host_ranges(host)

    def sites_named(self, word: str) -> tuple[str, ...]:
        """Return the names of large sites that begin with a word."""
        return self._sites.begun_by(word)

    def fetched_ranges(self) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Return the ranges of ordinals of all pages that were fetched, by segment."""
        return self.reader.fetched_ranges()

    def fetched_numbers(self, column: str) -> Mapping[int, Sequence[int]]:
        """Return a column of all pages that were fetched, by segment."""
        return self.reader.fetched_numbers(column)

    def look_ahead(self, query: Query) -> None:
        """Look up the words of a query and read its posting lists, to have them at hand for its answer."""
        from crawlctl.pipeline.search.plan.planner import plan_query

        plan = plan_query(query, self)
        steps = [step for step in (plan.step, plan.loose, plan.proximity) if step is not None]
        segments = range(len(self.reader.segments))
        self.reader.lists.read({read for step in steps for number in segments for read in step.lists(number)})

    def records(self, documents: Iterable[int]) -> list[PackedRecord]:
        """Return the stored documents with these numbers; documents that were read lately are remembered."""
        wanted = list(documents)
        held = {document: self._records.get(document) for document in wanted}
        missing = [document for document, record in held.items() if record is None]
        for document, read in zip(missing, self._read_records(missing), strict=True):
            held[document] = read
            self._records.put(document, read, len(memoryview(read.packed_text)) + _RECORD_OBJECTS)
        return [record for document in wanted if (record := held[document]) is not None]

    def _read_records(self, documents: Iterable[int]) -> list[PackedRecord]:
        places = [self.reader.locate(document) for document in documents]
        fresh = {segment for segment, _ in places} - self._docs.keys()
        opening = [partial(self._open_docs, segment) for segment in fresh]
        finding = [partial(self._row, *place) for place in places]
        rows = self.parallel.map(_call, [*opening, *finding])[len(opening) :]
        return self.parallel.map(self._record, zip((segment for segment, _ in places), rows, strict=True))

    def open_segment(self, segment: int) -> None:
        """Read what queries need of a segment beside its lists: places of documents, hosts, and lengths."""
        self._open_docs(segment)
        columns = self.reader.columns(segment)
        columns.raw("rows")
        columns.raw("body")
        columns.raw("title")
        columns.raw("flags")
        columns.hosts()

    def close(self) -> None:
        """End the threads that read, and bring the disk cache back to its limit."""
        self.parallel.close()
        if self.parallel:
            from crawlctl.pipeline.search.open.remote import RemoteFiles

            if isinstance(self.store, RemoteFiles):
                self.store.close()

    def _numbered_segments(self) -> list[Segment]:
        missing = self._named.keys() - set(self._dictionary.segments)
        if missing:
            raise StoreError(
                f"{self.store.uri}: the dictionary does not have the segment {min(missing)} of the snapshot; "
                "`crawlctl check --repair` writes the dictionary again"
            )
        return [self._named[name] for name in self._dictionary.segments]

    def _row(self, segment: int, ordinal: int) -> int:
        return self.reader.number("rows", segment, ordinal)

    def _record(self, place: tuple[int, int]) -> PackedRecord:
        segment, row = place
        entry = self.reader.segments[segment].entries[DOCS_DATA]
        value = self._docs[segment].get(pack_long(row))
        if value is None:
            raise CorruptFile(self.store.locate(entry.name), 0, f"it has no document {row}")
        return decode_packed(value, self.store.locate(entry.name))

    def _open_docs(self, segment: int) -> int:
        """Open the documents of a segment, and return its number."""
        files = self.reader.segments[segment]
        docs = MapFileReader(files.held_open(self.store, DOCS_DATA), files.open(self.store, DOCS_INDEX))
        docs.get(b"")  # reads the index of the file now, before several threads would do so
        self._docs[segment] = docs
        return segment


def _call(function: Callable[[], int]) -> int:
    return function()
