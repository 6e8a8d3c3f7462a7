"""`crawlctl dump` of files that are damaged, cut off, or not ours."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.commands.shared.readable_records import header_line, readable_term, record_lines
from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import LONG
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.keywords import field_keyword, type_keyword
from crawlctl.pipeline.index.runs.run_files import DOCUMENTS_KEY
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.state.layout import EXTRACT, KIND_KEY
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.words.stems import form_of, term_of
from crawlctl.pipeline.webdb.merge.update import inject
from crawlctl.tests.bytes_source import BytesSource
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.commands.conftest import Shell

SEED = "https://a.example/"
KINDS = (
    *("webdb", "outcomes", "fresh", "hosts", "blocks", "docs", "heads", "links", "terms", "postings"),
    "dictionary",
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The SequenceFiles of a small crawl that has not been merged."""
    store = LocalStore(tmp_path_factory.mktemp("crawl"))
    empty = create_crawl(store, 1)
    builder = RunBuilder()
    builder.add(Document(SEED, "A title", ("A heading",), "some words", links=((SEED + "b", "b", False),)))
    found = (*inject(store, empty, [SEED], 1).files, *builder.write(store, partition=0, round_number=1))
    commit(store, empty, files=found, round_number=1)
    return [store.read(entry.name) for entry in found if not entry.name.endswith(f"/{EXTRACT}")]


def lines_of(data: bytes, as_json: bool = True) -> list[str]:
    reader = SequenceFileReader(BytesSource(data, "x"))
    header_line(reader.header)
    return list(record_lines([reader], as_json))


def written(records: list[tuple[bytes, bytes]], key_class: str, metadata: dict[str, str]) -> bytes:
    sink = io.BytesIO()
    with SequenceFileWriter(sink, key_class=key_class, metadata=metadata) as writer:
        for key, value in records:
            writer.append(key, value)
    return sink.getvalue()


def test_postings_without_their_metadata_are_one_line(shell: Shell, files: list[bytes]) -> None:
    for data in files:
        reader = SequenceFileReader(BytesSource(data, "x"))
        if reader.header.metadata.get(KIND_KEY) == "postings":
            kept = {KIND_KEY: "postings"}
            Path("odd.seq").write_bytes(written(list(reader), reader.header.key_class, kept))
    message = shell("dump", "odd.seq", code=1)
    assert message.count("\n") == 1
    assert DOCUMENTS_KEY in message


@settings(max_examples=examples(150))
@given(data=st.data())
def test_whatever_lies_in_a_table_is_shown_or_refused(files: list[bytes], data: Any) -> None:
    reader = SequenceFileReader(BytesSource(data.draw(st.sampled_from(files)), "x"))
    records, key_class = list(reader), reader.header.key_class
    key, value = records[0] if records else (b"\0" * 8, b"")
    at = data.draw(st.integers(0, len(value)))
    value = value[:at] + data.draw(st.binary(max_size=9)) + value[at + data.draw(st.integers(0, 20)) :]
    metadata = {**reader.header.metadata, KIND_KEY: data.draw(st.sampled_from(KINDS))}
    metadata.pop(data.draw(st.sampled_from([*metadata, "none"])), None)
    try:
        lines_of(written([(key, value)], key_class, metadata), data.draw(st.booleans()))
    except CrawlctlError as err:
        assert "\n" not in str(err)


@settings(max_examples=examples(150))
@given(data=st.data())
def test_a_file_that_is_cut_off_or_damaged_is_shown_or_refused(files: list[bytes], data: Any) -> None:
    whole = data.draw(st.sampled_from(files))
    at = data.draw(st.integers(0, len(whole)))
    odd = whole[:at] + data.draw(st.binary(max_size=4)) + whole[at + data.draw(st.integers(0, 60)) :]
    try:
        lines_of(odd)
    except CrawlctlError as err:
        assert "\n" not in str(err)


@pytest.mark.parametrize(
    "content",
    [b"", b"SEQ", b"SEQ\x06", b"plain text\n", b"{}", b"\x1f\x8b\x08", b"\0" * 500, b"SEQ\x06" * 100],
)
def test_a_file_of_another_kind_is_one_line(shell: Shell, content: bytes) -> None:
    Path("odd").write_bytes(content)
    for form in ((), ("--json",), ("--header",)):
        message = shell("dump", *form, "odd", code=1)
        assert message.startswith("crawlctl: ")
        assert message.count("\n") == 1


def test_a_folder_that_is_no_mapfile_is_one_line(shell: Shell) -> None:
    Path("folder").mkdir()
    assert shell("dump", "folder", code=1).count("\n") == 1
    assert shell("dump", "no/where", code=1).count("\n") == 1
    assert "tables: webdb, hosts" in shell("dump", "nowhere", code=2)
    assert "crawlctl status --history" in shell("dump", "history", code=2)


def test_a_key_of_another_class_than_the_table_has_is_shown(shell: Shell) -> None:
    Path("odd").write_bytes(written([(b"\0" * 8, b"\xff")], LONG, {"any": "thing"}))
    assert shell("dump", "odd") == "0\t/w==\n"


def test_terms_have_their_language_in_words() -> None:
    assert readable_term(term_of("loops", "en")) == "loop [en stem]"
    assert readable_term(form_of("loops", "en")) == "loops [en form]"
    assert readable_term(b"2024") == "2024"
    assert readable_term(type_keyword("html")) == "type:html"
    assert readable_term(field_keyword("author", "Ann  Other")) == "in:author:ann other"
