"""What is written of a segment is read again, with counters that tell of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.paged_file import PagedSource
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.window import Window
from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.index.segment.columns import COLUMNS, ColumnReader, pack_language
from crawlctl.pipeline.index.segment.postings.bulk_lists import read_rated_lists, read_term_infos
from crawlctl.pipeline.index.segment.postings.short_numbers import MAX_NUMBER
from crawlctl.pipeline.index.segment.segment_files import IN_PAGES, counters_of
from crawlctl.pipeline.index.segment.segment_writer import write_columns, write_terms
from crawlctl.pipeline.state.entry_source import EntrySource
from crawlctl.tests.pipeline.index.segment.postings.test_plain_lists import Plain, equal, plain_lists, rated
from crawlctl.tests.pipeline.search.memory_store import MemoryStore

if TYPE_CHECKING:
    from crawlctl.pipeline.index.segment.segment_writer import Columns

NAME = "segments/00003/00000001-0"


@settings(deadline=None)
@given(st.lists(plain_lists, min_size=1, max_size=6), st.integers(1, 6))
def test_terms_have_the_same_lists_wherever_they_were_cut(plain: list[Plain], size: int) -> None:
    store = MemoryStore()
    names = [b"term%d" % number for number in range(len(plain))]
    cuts = [slice(start, start + size) for start in range(0, len(plain), size)]
    slices = ((strings_of(names[cut]), rated(plain[cut])) for cut in cuts)
    data, _, postings = write_terms(store, NAME, 3, slices)
    held = [len(posting.positions) for found in plain for posting in found.values()]
    assert (data.partition, data.records) == (3, len(plain))
    assert data.counters == {"postings": len(held), "positions": sum(held)}
    reader = SequenceFileReader(source := EntrySource(store, data))
    ((_, terms, values),) = reader.strings_from(reader.header.end, source.size)
    window = Window(PagedSource(EntrySource(store, postings)), postings.bytes)
    assert terms.tolist() == names
    assert equal(read_rated_lists(read_term_infos(values), window, MAX_NUMBER + 1), rated(plain))


def test_columns_tell_of_words_and_languages() -> None:
    store = MemoryStore()
    columns: Columns = {name: np.arange(3, dtype=f"<u{width}") for name, width in COLUMNS.items()}
    codes = [pack_language(language) for language in ("en", "", "en")]
    columns["languages"] = np.array(codes, f"<u{COLUMNS['languages']}")
    averages = [1.5] * len(INDEXED_FIELDS)
    hosts = [(b"a.example", 0), (b"b.example", 2)]
    entry = write_columns(store, NAME, 3, columns, hosts=hosts, averages=averages, frontier=True)
    words = [3] * len(INDEXED_FIELDS)
    assert entry.counters == counters_of(3, words, averages, {"": 1, "en": 2}, frontier=True) | IN_PAGES
    assert (entry.partition, entry.records) == (3, 3)
    reader = ColumnReader(PagedSource(EntrySource(store, entry)), 3)
    assert {name: bytes(reader.raw(name)) for name in COLUMNS} == {
        name: column.tobytes() for name, column in columns.items()
    }
    assert reader.hosts().names == [b"a.example", b"b.example"]


def test_a_changed_byte_is_told_where_a_single_number_is_read() -> None:
    store = MemoryStore()
    columns: Columns = {name: np.arange(3, dtype=f"<u{width}") for name, width in COLUMNS.items()}
    averages = [1.0] * len(INDEXED_FIELDS)
    entry = write_columns(store, NAME, 0, columns, hosts=[(b"a", 0)], averages=averages, frontier=False)
    whole = store.files[entry.name]
    for place in range(len(whole)):
        store.files[entry.name] = whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :]
        with pytest.raises(CorruptFile, match=entry.name):
            ColumnReader(PagedSource(EntrySource(store, entry)), 3).number("rows", 1)
