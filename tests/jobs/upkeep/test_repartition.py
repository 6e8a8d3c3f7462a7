"""A crawl in another number of partitions holds the same, record by record, and gives the same answers."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.crawl.copying import copy_crawl
from crawlctl.pipeline.crawl.indexing import merge_now
from crawlctl.pipeline.crawl.rank_due import unranked_rounds
from crawlctl.pipeline.crawl.ranking import rank_now
from crawlctl.pipeline.errors import CorruptFile, StoreError
from crawlctl.pipeline.index.segment.duplicate_groups import read_groups
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.index.segment.tombstones import read_tombstones
from crawlctl.pipeline.rank.publish.rank_explanation import explain_rank
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.copies.answers import answers_of
from crawlctl.tests.pipeline.copies.holdings import Holdings, holdings
from crawlctl.tests.pipeline.copies.made_crawl import make_crawl, work_on
from crawlctl.tests.pipeline.index.merge.reading import postings_of, records_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> dict[int, LocalStore]:
    """The same crawl, made in four partitions and in one."""
    folder = tmp_path_factory.mktemp("crawls")
    stores = {count: LocalStore(folder / str(count)) for count in (4, 1)}
    for count, store in stores.items():
        make_crawl(store, count)
    return stores


@pytest.fixture(scope="module")
def held(crawls: dict[int, LocalStore]) -> dict[int, Holdings]:
    return {count: holdings(store) for count, store in crawls.items()}


def repartitioned(source: LocalStore, folder: Path, partitions: int, runner: str = "inline") -> LocalStore:
    made = LocalStore(folder)
    report = copy_crawl(work_on(source, runner), made, partitions=partitions)
    assert load_current(made).partitions == report.partitions == partitions
    return made


def test_the_crawl_has_all_that_a_crawl_can_have(
    crawls: dict[int, LocalStore], held: dict[int, Holdings]
) -> None:
    files = load_current(crawls[4]).files
    segments = segments_of(files)
    assert {segment.frontier for segment in segments} == {True, False}
    assert len(segments) > 2 * len({segment.partition for segment in segments})
    assert sum(stones.dead for stones in read_tombstones(crawls[4], files).values()) > 5
    assert sum(len(groups.ordinals) for groups in read_groups(crawls[4], files).values()) > 20
    assert held[4].runs and held[4].ranks and held[4].links and held[4].hosts and held[4].blocks
    assert len(held[4].webdb) > len(held[4].ranks), "the WebDB has grown since the ranking"


@pytest.mark.parametrize(("old", "new"), [(4, 7), (4, 1), (1, 4), (4, 8), (4, 2)])
def test_a_copy_holds_the_same_and_answers_the_same(
    crawls: dict[int, LocalStore], held: dict[int, Holdings], tmp_path: Path, old: int, new: int
) -> None:
    made = repartitioned(crawls[old], tmp_path / "copy", new, "forked")
    copied = holdings(made)
    for name in Holdings._fields:
        assert getattr(copied, name) == getattr(held[old], name), name
    answers = answers_of(crawls[old])
    assert sum(bool(answer[0]) for answer in answers.values()) > len(answers) // 2
    assert answers_of(made) == answers


@pytest.mark.integration
def test_it_runs_on_the_local_runner_too(
    crawls: dict[int, LocalStore], held: dict[int, Holdings], tmp_path: Path
) -> None:
    assert holdings(repartitioned(crawls[4], tmp_path / "copy", 3, "local")) == held[4]


def test_a_copy_of_a_copy_is_the_first_again(
    crawls: dict[int, LocalStore], held: dict[int, Holdings], tmp_path: Path
) -> None:
    there = repartitioned(crawls[4], tmp_path / "there", 7)
    back = repartitioned(there, tmp_path / "back", 4)
    assert holdings(back) == held[4]


def test_ranks_are_explained_alike(crawls: dict[int, LocalStore], tmp_path: Path) -> None:
    made = repartitioned(crawls[4], tmp_path / "copy", 7)
    one, other = load_current(crawls[4]), load_current(made)
    for key in sorted(holdings(made).webdb)[::7]:
        url = key.decode().partition(" ")[2]
        expected, found = explain_rank(crawls[4], one, url, 99), explain_rank(made, other, url, 99)
        if expected is None or found is None:
            assert expected == found
            continue
        assert (found.rank, found.links) == (expected.rank, expected.links)
        assert found.multiple == expected.multiple
        assert sorted((g.url, g.share) for g in found.givers) == sorted(
            (g.url, g.share) for g in expected.givers
        )


def test_what_waits_for_a_merge_or_a_ranking_goes_on_waiting(
    crawls: dict[int, LocalStore], tmp_path: Path
) -> None:
    """The next merge and the next ranking come out alike, which looks at every record there is."""
    source = LocalStore(tmp_path / "source")
    shutil.copytree(crawls[4].root, source.root)
    made = repartitioned(source, tmp_path / "copy", 7)
    assert unranked_rounds(load_current(made)) == unranked_rounds(load_current(source)) == 1
    merged = [merge_now(work_on(store), full=True) for store in (source, made)]
    assert None not in merged
    one, other = (load_current(store).files for store in (source, made))
    assert records_of(made, other) == records_of(source, one)
    assert postings_of(made, other) == postings_of(source, one)
    for store in (source, made):
        rank_now(work_on(store))
    ranks, expected = holdings(made).ranks, holdings(source).ranks
    assert ranks.keys() == expected.keys()
    assert all(float(ranks[url]) == pytest.approx(float(expected[url]), abs=1e-6) for url in ranks)


@pytest.mark.parametrize("files", [False, True], ids=["empty", "with seeds"])
def test_a_crawl_that_has_only_begun_can_be_copied(tmp_path: Path, files: bool) -> None:
    source = LocalStore(tmp_path / "source")
    snapshot = create_crawl(source, 2)
    if files:
        from crawlctl.pipeline.webdb.merge.update import inject

        seeds = [f"https://host{number}.example/" for number in range(9)]
        commit(source, snapshot, files=inject(source, snapshot, seeds, 1).files, round_number=0)
    made = repartitioned(source, tmp_path / "copy", 5)
    assert holdings(made) == holdings(source)


@pytest.mark.parametrize("kind", ["segments", "webdb", "graph", "docs"])
def test_a_damaged_file_of_the_source_is_named(
    crawls: dict[int, LocalStore], tmp_path: Path, kind: str
) -> None:
    source = LocalStore(tmp_path / "source")
    shutil.copytree(crawls[4].root, source.root)
    entry = max(load_current(source).files_of(kind), key=lambda entry: entry.bytes)
    data = bytearray(source.read(entry.name))
    data[len(data) // 2] ^= 1
    (source.root / entry.name).write_bytes(data)
    with pytest.raises(CorruptFile) as caught:
        repartitioned(source, tmp_path / "copy", 3)
    assert entry.name in str(caught.value)


def test_files_of_a_kind_that_is_unknown_are_not_dropped(tmp_path: Path) -> None:
    source = LocalStore(tmp_path / "source")
    first = create_crawl(source, 2)
    with source.write("index/00000/00000001-a") as sink:
        sink.write(b"of a later version")
    from crawlctl.pipeline.state.manifest import FileEntry

    entry = FileEntry("index", 0, sink.name, sink.bytes, 0, sink.checksum)
    commit(source, first, files=[entry], round_number=1)
    with pytest.raises(StoreError, match="kind 'index'"):
        repartitioned(source, tmp_path / "copy", 3)
    assert not list(LocalStore(tmp_path / "copy").list("snapshots/"))
