from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.segment.stored_documents import Document, Lengths, record_of
from crawlctl.pipeline.index.words import title_table
from crawlctl.pipeline.index.words.title_table import TitleTable, entries_of, write_titles
from crawlctl.pipeline.text.documents.page import PageDetails, Section
from crawlctl.pipeline.text.words.tokens import tokens
from crawlctl.tests.pipeline.search.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "segments/00000/00000001-a"
titles = st.text(alphabet="abE \n-é", max_size=8)


def packed(documents: Sequence[Document]) -> bytes:
    store = MemoryStore()
    records = [record_of(document, Lengths()) for document in documents]
    found = [entry for ordinal, record in enumerate(records) for entry in entries_of(record, ordinal)]
    return store.read(write_titles(store, NAME, 0, found, len(documents)).name)


def table_of(documents: Sequence[Document]) -> TitleTable:
    return TitleTable(packed(documents), len(documents), NAME)


@given(st.lists(titles, max_size=8), st.sampled_from(["", "a", "ab", "a b", "é"]))
def test_titles_are_found_by_the_beginning_of_their_words(texts: list[str], prefix: str) -> None:
    documents = [Document(f"http://a/{number}", title=text) for number, text in enumerate(texts)]
    table = table_of(documents)
    found = [table.entry(at) for at in table.beginning_with(prefix)]
    keys = {" ".join(tokens(text)) for text in texts} - {""}
    assert {entry.key for entry in found} == {key for key in keys if key.startswith(prefix)}
    for entry in found:
        assert entry.text == " ".join(texts[entry.ordinal].split())
        assert entry.url == documents[entry.ordinal].url


def test_a_heading_leads_to_its_section() -> None:
    details = PageDetails(sections=(Section("loops", "Event loops", 0),))
    table = table_of([Document("http://a/", "Guide", ("Event loops", "Other"), details=details)])
    anchors = {entry.text: entry.anchor for entry in map(table.entry, table.beginning_with(""))}
    assert anchors == {"Guide": "", "Event loops": "#loops", "Other": "#"}


def test_of_the_same_words_titles_and_short_addresses_are_kept() -> None:
    pages = [Document(f"http://a/{'x' * number}", headings=("See also",)) for number in range(9)]
    table = table_of([*pages, Document("http://a/long/address", "See Also")])
    kept = [table.entry(at).url for at in table.beginning_with("see")]
    assert kept == ["http://a/long/address", "http://a/", "http://a/x", "http://a/xx"]


def test_of_too_many_entries_the_last_headings_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(title_table, "MAX_ENTRIES", 3)
    table = table_of([Document("http://a/1", "A", ("B", "C")), Document("http://a/2", "D", ("E",))])
    assert {table.entry(at).text for at in table.beginning_with("")} == {"A", "D"}


@given(st.data())
def test_damage_is_found(data: st.DataObject) -> None:
    good = packed([Document("http://a/", "A tree", ("A house",))])
    at = data.draw(st.integers(0, len(good) - 1))
    bad = good[:at] + bytes((good[at] ^ 1 << data.draw(st.integers(0, 7)),)) + good[at + 1 :]
    with pytest.raises(CorruptFile):
        TitleTable(bad, 1, NAME)
    with pytest.raises(CorruptFile):
        TitleTable(good, 0, NAME)
