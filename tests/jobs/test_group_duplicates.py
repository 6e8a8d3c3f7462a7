"""Near duplicates on different hosts, through the merge and the job, on each runner of this machine."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from crawlctl.jobs.group_duplicates import DuplicateGrouper
from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.duplicates.grouping_due import is_grouping_due
from crawlctl.pipeline.duplicates.order import (
    GroupOrder,
    PartitionFiles,
    partition_lines,
)
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.lookup import similar_to
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.duplicate_groups import read_groups
from crawlctl.pipeline.index.segment.priors import write_priors
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, segments_of
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.orders import decode_order, encode_order
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.kinds import DELETED
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry, decode_lines
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.likeness.fingerprint import fingerprint
from crawlctl.pipeline.urls.hosts import host_of, partition_of, stable_hash, webdb_key
from crawlctl.pipeline.webdb.part import write_part
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode
from crawlctl.tests.jobs.test_merge_index import merged
from crawlctl.tests.pipeline.text.edits import WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawlctl.pipeline.config.settings import RunnerName
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.orders import TaskOrder

PARTITIONS = 3
THRESHOLD = 0.9
CHANCE = random.Random(5)
NEWS = [CHANCE.choice(WORDS) for _ in range(400)]
TEXTS = {
    "https://agency.example/news/2026/11": NEWS,
    "https://paper.example/n": [*NEWS, "reprinted"],
    "https://mirror.example/news": ["copy", *NEWS],
    "https://other.example/": [CHANCE.choice(WORDS) for _ in range(400)],
    "https://paper.example/other": [CHANCE.choice(WORDS) for _ in range(400)],
}
SHORTEST = "https://paper.example/n"


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


@pytest.fixture
def index(store: LocalStore, tmp_path: Path) -> tuple[FileEntry, ...]:
    files: list[FileEntry] = []
    for number in range(PARTITIONS):
        mine = {url: text for url, text in TEXTS.items() if partition_of(host_of(url), PARTITIONS) == number}
        builder = RunBuilder()
        for url, words in mine.items():
            text = " ".join(words)
            builder.add(Document(url, text=text, fetched_at=7, sketch=fingerprint(text).sketch))
        files += builder.write(store, partition=number, round_number=1)
        keys = sorted(map(webdb_key, mine))
        entry = encode(WebEntry(Status.FETCHED, 0, 0.0, 0, 0))
        files += write_part(store, [(keys, [entry] * len(keys))], partition=number, round_number=1)
    done = merged(store, files, tmp_path, "inline", 1)
    return tuple(decode_lines((line for _, line in done.output), "the merge"))


def grouped(
    store: LocalStore,
    index: tuple[FileEntry, ...],
    scratch: Path,
    runner: RunnerName,
    state: tuple[FileEntry, ...] = (),
) -> tuple[FileEntry, ...]:
    lines = partition_lines(index)
    partitions = tuple(line.partition for line in lines)
    order = GroupOrder(
        store=store.uri, round=1, shards=2, threshold=THRESHOLD, partitions=partitions, state=state
    )
    (scratch / "groups.json").write_bytes(encode_order(order))
    (scratch / "group-lines").write_bytes(b"".join(encode_order(line) + b"\n" for line in lines))
    settings = RunnerSettings(name=runner, tmp_dir=str(scratch))
    args = ["--order", str(scratch / "groups.json"), "--reducers", "2"]
    done = run_job(DuplicateGrouper, [scratch / "group-lines"], settings=settings, args=args)
    return tuple(decode_lines((line for _, line in done.output), "the output"))


def hashes_of(store: LocalStore, segment: Segment) -> Sequence[int]:
    return ColumnReader(segment.open(store, COLUMNS), segment.documents).column("hashes")


def by_url(store: LocalStore, index: tuple[FileEntry, ...], entries: tuple[FileEntry, ...]) -> dict[str, int]:
    found = read_groups(store, entries)
    urls = {stable_hash(url): url for url in TEXTS}
    groups: dict[str, int] = {}
    for segment in segments_of(index):
        hashes = hashes_of(store, segment)
        members = found.get(segment.name)
        for ordinal, value in enumerate(hashes):
            group = members.group_of(ordinal) if members else None
            if group is not None:
                groups[urls[value]] = group
    return groups


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["inline", "forked", "local"])
def test_the_same_news_on_three_hosts_is_one_group(
    store: LocalStore, index: tuple[FileEntry, ...], tmp_path: Path, runner: RunnerName
) -> None:
    entries = grouped(store, index, tmp_path, runner)
    same, others = list(TEXTS)[:3], list(TEXTS)[3:]
    assert by_url(store, index, entries) == dict.fromkeys(same, stable_hash(SHORTEST))
    assert set(similar_to(store, (*index, *entries), same[0])) == set(same[1:])
    assert list(similar_to(store, (*index, *entries), others[0])) == []


def test_the_page_of_the_best_rank_represents_its_group(
    store: LocalStore, index: tuple[FileEntry, ...], tmp_path: Path
) -> None:
    best = "https://mirror.example/news"
    ranked: tuple[FileEntry, ...] = ()
    for segment in segments_of(index):
        hashes = hashes_of(store, segment)
        priors = bytes(200 if value == stable_hash(best) else 100 for value in hashes)
        number = segment.partition
        ranked += write_priors(store, {segment.name: priors}, partition=number, round_number=1)
    entries = grouped(store, (*index, *ranked), tmp_path, "inline")
    assert set(by_url(store, index, entries).values()) == {stable_hash(best)}


def test_a_run_groups_when_the_index_has_changed_and_enough_documents_were_not_compared(
    store: LocalStore, index: tuple[FileEntry, ...], tmp_path: Path
) -> None:
    entries = grouped(store, index, tmp_path, "inline")
    left = segments_of(index)[0]
    some = tuple(entry for entry in entries if entry.partition != left.partition)
    share = left.documents / len(TEXTS)
    assert is_grouping_due(store, (*index, *some), share, THRESHOLD)
    assert not is_grouping_due(store, (*index, *some), share + 0.01, THRESHOLD)
    assert not is_grouping_due(store, (*index, *entries), 0.0, THRESHOLD)
    assert is_grouping_due(store, (*index, *entries), 1.0, THRESHOLD - 0.1), "another similarity is asked for"
    assert is_grouping_due(store, index, 1.0, THRESHOLD), "there are no groups yet"
    deleted = FileEntry(DELETED, left.partition, data_name(DELETED, left.partition, 2), 0, 0, "0" * 64)
    assert is_grouping_due(store, (*index, *entries, deleted), 0.0, THRESHOLD)
    assert not is_grouping_due(store, (*index, *entries, deleted), 0.01, THRESHOLD)


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["inline", "forked", "local"])
def test_a_grouping_goes_on_from_the_last_one(
    store: LocalStore, index: tuple[FileEntry, ...], tmp_path: Path, runner: RunnerName
) -> None:
    entries = grouped(store, index, tmp_path, runner)
    gone = next(one for one in segments_of(index) if stable_hash(SHORTEST) in hashes_of(store, one))
    others = tuple(entry for entry in index if entry.partition != gone.partition)
    left = grouped(store, (*others, *entries), tmp_path, runner, state=entries)
    assert by_url(store, others, left) == dict.fromkeys(
        [url for url in TEXTS if "news" in url], stable_hash("https://mirror.example/news")
    )
    again = grouped(store, (*index, *left), tmp_path, runner, state=left)
    assert set(by_url(store, index, again).values()) == {stable_hash("https://mirror.example/news")}
    assert set(by_url(store, index, again)) == set(list(TEXTS)[:3])


@pytest.mark.parametrize("kind", [GroupOrder, PartitionFiles])
def test_an_order_that_is_none_is_explained(kind: type[TaskOrder]) -> None:
    with pytest.raises(ConfigError, match="crawlctl run"):
        decode_order(b"{}", kind)
