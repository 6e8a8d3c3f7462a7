from __future__ import annotations

import tempfile
import tracemalloc
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.index.building import builder as builder_module
from crawlctl.pipeline.index.building import inversion
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.building.inversion import url_text
from crawlctl.pipeline.index.fields import MAX_OFFSETS, OFFSET_BITS, PAGE_FIELDS
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.state.layout import KIND_KEY
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.documents.page import PageDetails, Section
from crawlctl.pipeline.text.words.stems import form_of, is_form, term_of
from crawlctl.pipeline.text.words.tokens import tokens
from crawlctl.pipeline.urls.hosts import stable_hash
from crawlctl.tests.effort import examples
from crawlctl.tests.pipeline.index.runs.whole_run import WholeRun
from crawlctl.tests.pipeline.search.brute_force import placed_words

if TYPE_CHECKING:
    from crawlctl.pipeline.state.manifest import FileEntry

Postings = dict[bytes, dict[int, list[int]]]  # term → document → positions


def placed(texts: tuple[str, ...], language: str, *, body: bool = False) -> list[tuple[int, str]]:
    """Return the words of a field with their positions, one left free between texts."""
    found: set[tuple[int, str]] = set()
    position = 0
    for text in texts:
        found.update((position + offset, word) for offset, word in placed_words(text, language, body=body))
        position += len(tokens(text)) + 1
    return sorted((place, word) for place, word in found if place < MAX_OFFSETS)


def fields_of(document: Document) -> dict[str, list[tuple[int, str]]]:
    return {
        "body": placed((document.text,), document.language, body=True),
        "heading": placed(document.headings, document.language),
        "title": placed((document.title,), document.language),
        "url": placed((url_text(document.url),), document.language),
    }


def lengths_of(document: Document) -> dict[str, int]:
    """Return the number of words of each field; parts of identifiers do not count."""
    texts = ((document.text,), document.headings, (document.title,), (url_text(document.url),))
    counts = (sum(len(tokens(text)) for text in some) for some in texts)
    return {field: min(count, MAX_OFFSETS) for field, count in zip(PAGE_FIELDS, counts, strict=True)}


def brute_force(documents: list[Document]) -> Postings:
    found: Postings = defaultdict(lambda: defaultdict(list))
    for ordinal, document in enumerate(documents):
        fields: defaultdict[bytes, int] = defaultdict(int)  # of each word as it is written: one bit per field
        for number, held in enumerate(fields_of(document).values()):
            for offset, word in held:
                found[term_of(word, document.language)][ordinal].append(number << OFFSET_BITS | offset)
                fields[form_of(word, document.language)] |= 1 << number
        for form in filter(is_form, fields):
            found[form][ordinal].append(fields[form])
    return {key: dict(held) for key, held in found.items()}


def build(store: LocalStore, documents: list[Document], batch_bytes: int = 1) -> tuple[FileEntry, ...]:
    builder = RunBuilder(batch_bytes=batch_bytes)
    assert [builder.add(document) for document in documents] == list(range(len(documents)))
    return builder.write(store, partition=3, round_number=7)


def open_run(store: LocalStore, entries: tuple[FileEntry, ...]) -> WholeRun:
    (files,) = runs_of(entries)
    return WholeRun(store, files)


def read(run: WholeRun) -> Postings:
    return {key: dict(zip(found.documents, found.positions, strict=True)) for key, found in run.lists()}


@settings(max_examples=examples(25), deadline=None)
@given(
    st.lists(st.from_type(Document), min_size=1, max_size=8),
    st.sampled_from([1, 60, 200, 1 << 20]),
    st.data(),
)
def test_a_run_holds_what_a_brute_force_inversion_finds(
    documents: list[Document], batch_bytes: int, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(inversion, "SLICE_POSITIONS", data.draw(st.sampled_from([1, 10, 600_000])))
        store = LocalStore(Path(folder) / "crawl")
        entries = build(store, documents, batch_bytes)
        run = open_run(store, entries)
        expected = brute_force(documents)
        assert list(read(run)) == sorted(expected)
        assert read(run) == expected
        assert run.documents == len(documents)
        check_records(run, documents)
        check_counters(entries, documents, expected)


def check_records(run: WholeRun, documents: list[Document]) -> None:
    records, heads = run.records(), run.heads()
    assert list(records) == list(range(len(documents))) == list(range(len(heads)))
    for ordinal, document in enumerate(documents):
        record = records[ordinal]
        assert (record.url, record.text) == (document.url, document.text)
        assert (record.headings, record.signature) == (document.headings, document.signature)
        lengths = lengths_of(document)
        assert {field: getattr(record.lengths, field) for field in lengths} == lengths
        assert run.record(ordinal) == record
        head = heads[ordinal]
        assert (head.url, head.lengths) == (record.url, record.lengths)
        assert (head.signature, head.sketch) == (document.signature, document.sketch)
    assert run.record(len(documents)) is None
    for ordinal, links in enumerate(run.links()):
        assert links.targets == tuple(stable_hash(url) for url, _, _ in documents[ordinal].links)


def check_counters(entries: tuple[FileEntry, ...], documents: list[Document], expected: Postings) -> None:
    docs, docs_index, heads, links, postings, postings_index = entries
    words_of = [lengths_of(document) for document in documents]
    totals = {f"words.{field}": sum(found[field] for found in words_of) for field in words_of[0]}
    assert (docs.records, docs.counters) == (len(documents), {"documents": len(documents), **totals})
    assert (docs_index.records, postings_index.records) == (0, 0)
    assert links.records == heads.records == len(documents)
    flags = [nofollow for document in documents for _, _, nofollow in document.links]
    assert links.counters == {"links": len(flags), "nofollow": sum(flags)}
    assert (postings.records > 0) == bool(expected)
    assert postings.counters == {
        "terms": len(expected),
        "postings": sum(map(len, expected.values())),
        "positions": sum(len(places) for held in expected.values() for places in held.values()),
    }


def test_only_the_first_positions_of_a_field_count(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inversion, "MAX_OFFSETS", 3)
    document = Document("http://a.example/", text="a b c d", headings=("e", "f", "g"))
    run = open_run(store, build(store, [document, document]))
    lists = dict(run.lists())
    assert b"d" not in lists
    assert (lists[b"c"].documents, lists[b"c"].positions) == ([0, 1], [[2], [2]])
    record = run.record(1)
    assert record is not None
    assert (record.lengths.body, record.lengths.heading) == (3, 2)


def test_no_documents_make_no_files(store: LocalStore) -> None:
    assert build(store, []) == ()
    assert list(store.list()) == []


def test_documents_without_words_have_records(store: LocalStore) -> None:
    entries = build(store, [Document("..."), Document("...")])
    run = open_run(store, entries)
    assert list(run.lists()) == []
    assert [record.url for record in run.records().values()] == ["...", "..."]


def test_files_say_what_they_are(store: LocalStore) -> None:
    entries = build(store, [Document("http://a.example/", text="one")])
    headers = [SequenceFileReader(store.open(entries[place].name)).header.metadata for place in (0, 2, 3, 4)]
    assert [header[KIND_KEY] for header in headers] == ["docs", "heads", "links", "postings"]
    assert [entry.kind for entry in entries] == ["docs", "docs", "docs", "links", "postings", "postings"]
    assert [store.size(entry.name) for entry in entries] == [entry.bytes for entry in entries]


def test_a_written_run_takes_no_more(store: LocalStore) -> None:
    builder = RunBuilder()
    builder.write(store, partition=0, round_number=1)
    with pytest.raises(ValueError, match="new one"):
        builder.add(Document("http://a.example/"))
    with pytest.raises(ValueError, match="new one"):
        builder.write(store, partition=0, round_number=1)


@pytest.mark.parametrize(
    ("limit", "value"), [("MAX_DOCUMENTS", 2), ("MAX_RUN_POSITIONS", 60), ("MAX_TERMS", 12)]
)
def test_a_full_run_says_so_and_refuses_more(limit: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder_module, limit, value)
    builder = RunBuilder(batch_bytes=1)
    document = Document("http://a.example/b", text="one two three four five " * 4)
    assert not builder.full
    added = next(count for count in range(1, 9) if builder.add(document) >= 0 and builder.full)
    assert builder.documents == added < 8
    with pytest.raises(ValueError, match="full"):
        builder.add(document)


@pytest.mark.parametrize("vocabulary", [300, 30_000])
def test_the_estimate_of_memory_is_near_the_truth(vocabulary: int) -> None:
    drawn = Random(vocabulary)
    builder = RunBuilder()
    tracemalloc.start()
    try:
        before, estimated = tracemalloc.get_traced_memory()[0], builder.memory
        for number in range(300):
            text = " ".join(f"word{int(drawn.random() ** 2 * vocabulary)}" for _ in range(1000))
            builder.add(Document(f"http://a.example/{number}", title=f"page {number}", text=text))
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert 0.75 * grown < builder.memory - estimated < 1.25 * grown


def test_the_estimate_counts_the_details_of_pages() -> None:
    builder = RunBuilder()
    tracemalloc.start()
    try:
        before, estimated = tracemalloc.get_traced_memory()[0], builder.memory
        for number in range(50):
            sections = tuple(
                Section(f"{number} {'x' * 100} {each}", f"Head {each}", each) for each in range(500)
            )
            details = PageDetails(sections=sections, fields=(("body", f"{number}" * 5000),))
            builder.add(Document(f"http://a.example/{number}", details=details))
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert 0.75 * grown < builder.memory - estimated < 1.25 * grown
