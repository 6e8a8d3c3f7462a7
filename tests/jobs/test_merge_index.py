"""The index merge as a job, on each runner of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.jobs.merge_index import IndexMerger
from crawlctl.pipeline.config.settings import IndexSettings, RunnerSettings
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.merge.order import (
    IndexOrder,
    PartitionOrder,
    choose_partitions,
    with_index,
)
from crawlctl.pipeline.index.segment.dictionary import Dictionary
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.index.statistics import totals_of
from crawlctl.pipeline.orders import decode_order, encode_order
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.manifest import FileEntry, decode_lines
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.words.stems import term_of
from crawlctl.pipeline.urls.hosts import host_of, partition_of, webdb_key
from crawlctl.pipeline.webdb.part import write_part
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode
from crawlctl.tests.pipeline.index.merge.reading import expected_postings, postings_of

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.config.settings import RunnerName
    from crawlctl.pipeline.orders import TaskOrder
    from crawlctl.pipeline.runners.job_result import JobResult

PARTITIONS = 3
URLS = [f"https://host{number}.example/page" for number in range(9)]
UNFETCHED = "https://host1.example/later"


def home(url: str) -> int:
    return partition_of(host_of(url), PARTITIONS)


def document(url: str) -> Document:
    return Document(
        url, title="A title", text=f"common words and {host_of(url)}", language="en", fetched_at=7
    )


def crawl(store: LocalStore, round_number: int, urls: list[str]) -> list[FileEntry]:
    """Write what the fetch and WebDB steps of a round leave: a run and a part for each partition."""
    entries: list[FileEntry] = []
    for number in range(PARTITIONS):
        mine = [url for url in urls if home(url) == number]
        builder = RunBuilder()
        for url in mine:
            builder.add(document(url))
        entries += builder.write(store, partition=number, round_number=round_number)
        rows = {webdb_key(url): WebEntry(Status.FETCHED, 0, 0.0, 0, 0, anchors=("name",)) for url in mine}
        if home(UNFETCHED) == number:
            rows[webdb_key(UNFETCHED)] = WebEntry(Status.UNFETCHED, 0, 1.0, 0, 0, anchors=("to come",))
        keys = sorted(rows)
        blocks = [(keys, [encode(rows[key]) for key in keys])] if keys else []
        entries += write_part(store, blocks, partition=number, round_number=round_number)
    return entries


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


def merged(
    store: LocalStore, files: list[FileEntry], scratch: Path, runner: RunnerName, shards: int
) -> JobResult:
    plan = choose_partitions(files)
    totals = totals_of(files)
    order = IndexOrder(
        store=store.uri,
        round=1,
        documents=totals.documents,
        words=totals.words,
        languages=totals.languages,
        frontier=10,
        shards=shards,
        index=IndexSettings(),
        staying=plan.staying,
    )
    (scratch / "order.json").write_bytes(encode_order(order))
    (scratch / "lines").write_bytes(b"".join(encode_order(part) + b"\n" for part in plan.partitions))
    settings = RunnerSettings(name=runner, tmp_dir=str(scratch))
    args = ["--order", str(scratch / "order.json"), "--reducers", str(shards)]
    return run_job(IndexMerger, [scratch / "lines"], settings=settings, args=args)


@pytest.mark.slow
@pytest.mark.parametrize(("runner", "shards"), [("inline", 1), ("forked", 2), ("local", 2)])
def test_runs_become_segments_and_a_dictionary(
    store: LocalStore, tmp_path: Path, runner: RunnerName, shards: int
) -> None:
    files = crawl(store, 1, URLS)
    done = merged(store, files, tmp_path, runner, shards)
    entries = tuple(decode_lines((line for _, line in done.output), "the output"))
    assert postings_of(store, entries) == expected_postings((document(url), ("name",)) for url in URLS)
    assert b"come" in postings_of(store, entries, frontier=True)
    assert done.counters.group("index") == {"written": len(URLS), "left out": 0}
    dictionary = Dictionary(store, entries)
    assert dictionary.segments == [segment.name for segment in segments_of(entries)]
    assert sum(place.count for place in dictionary.find(term_of("common", "en"))) == len(URLS)
    assert sum(place.count for place in dictionary.find(term_of("page", "en"))) == len(URLS)
    after = with_index(files, range(PARTITIONS), entries)
    assert {entry.kind for entry in after} == {"webdb", "segments", "dictionary"}


def test_a_partition_that_has_not_changed_keeps_its_files(store: LocalStore, tmp_path: Path) -> None:
    files = crawl(store, 1, URLS)
    done = merged(store, files, tmp_path, "inline", 1)
    entries = tuple(decode_lines((line for _, line in done.output), "the output"))
    files = list(with_index(files, range(PARTITIONS), entries))
    assert choose_partitions(files).partitions == ()
    changed = home("https://host0.example/new")
    run = [entry for entry in crawl(store, 2, ["https://host0.example/new"]) if entry.partition == changed]
    files += [entry for entry in run if entry.kind != "webdb"]
    assert [part.partition for part in choose_partitions(files).partitions] == [changed]
    assert {entry.partition for entry in choose_partitions(files).staying} == {*range(PARTITIONS)} - {changed}
    done = merged(store, files, tmp_path, "inline", 1)
    entries = tuple(decode_lines((line for _, line in done.output), "the output"))
    assert {entry.partition for entry in entries if entry.kind == "segments"} == {changed}
    after = with_index(files, [changed], entries)
    assert Dictionary(store, after).segments == [segment.name for segment in segments_of(after)]


@pytest.mark.parametrize("kind", [IndexOrder, PartitionOrder])
def test_an_order_that_is_none_is_explained(kind: type[TaskOrder]) -> None:
    with pytest.raises(ConfigError, match="crawlctl merge"):
        decode_order(b"{}", kind)
