"""The index step of rounds over a made-up web whose pages have texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.config.settings import Config, IndexSettings, Pace, RecrawlSettings, RunnerSettings
from crawlctl.pipeline.config.units import DAY, Duration
from crawlctl.pipeline.crawl.indexing import IndexStep, merge_now
from crawlctl.pipeline.crawl.reports.run_report import RunReport
from crawlctl.pipeline.crawl.rounds import run_rounds
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.errors import NotACrawl
from crawlctl.pipeline.index.merge import layer_policy, liveness, page_changes, task
from crawlctl.pipeline.index.runs.run_files import RUN_KINDS
from crawlctl.pipeline.index.segment.dictionary import Dictionary
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.state.garbage import collect
from crawlctl.pipeline.state.journal import open_round_files
from crawlctl.pipeline.state.kinds import HISTORY
from crawlctl.pipeline.state.layout import snapshot_name
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.words.stems import term_of
from crawlctl.tests.pipeline.index.merge.reading import postings_of, records_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.pipeline.index.merge.liveness import PageState
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.part import WebDbPart

PARTITIONS = 3
PAGES = 8
SEEDS = ["https://host0.example/0"]
YEARS = Duration(5000 * DAY)


@pytest.fixture(autouse=True)
def _web_with_texts(monkeypatch: pytest.MonkeyPatch, made_up_web: None) -> None:
    monkeypatch.setenv("WEB_PAGES", str(PAGES))
    monkeypatch.setenv("WEB_TEXTS", "yes")


@pytest.fixture
def work(tmp_path: Path, scratch: Path) -> Work:
    return work_on(tmp_path, scratch)


def work_on(tmp_path: Path, scratch: Path, **index: Any) -> Work:
    config = Config(
        runner=RunnerSettings(name="inline", tmp_dir=str(scratch)),
        recrawl=RecrawlSettings(pace=Pace(initial=YEARS, minimum=YEARS, maximum=YEARS), jitter=0.0),
        index=IndexSettings(**index),
    )
    return Work(LocalStore(tmp_path / "crawl"), config, Display())


def crawl(work: Work, iterations: int | None = None) -> tuple[FileEntry, ...]:
    run_rounds(work, iterations=iterations, partitions=PARTITIONS, seeds=SEEDS)
    return load_current(work.store).files


def kinds(files: tuple[FileEntry, ...]) -> set[str]:
    return {entry.kind for entry in files}


@pytest.mark.slow
def test_every_round_ends_in_an_index_of_all_pages(work: Work) -> None:
    for fetched in (1, 4):
        files = crawl(work, 1)
        assert kinds(files).isdisjoint(RUN_KINDS)
        assert len(records_of(work.store, files)) == fetched
    files = crawl(work)
    assert len(records_of(work.store, files)) == PAGES + 1
    assert len(postings_of(work.store, files)[term_of("text", "en")]) == PAGES + 1
    dictionary = Dictionary(work.store, files)
    assert dictionary.segments == [segment.name for segment in segments_of(files)]
    assert sum(place.count for place in dictionary.find(term_of("text", "en"))) == PAGES + 1
    assert len({entry.name.split("/")[2] for entry in files if entry.kind == "dictionary"}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("most", [0, 1 << 18])
def test_rounds_that_read_what_changed_make_the_same_index(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Of too many changes, or of those that are not known, all pages are read."""
    monkeypatch.setattr(page_changes, "_READ_ALL", 0)
    monkeypatch.setattr(page_changes, "MOST_AT_ONCE", most)
    monkeypatch.setattr(layer_policy, "SMALL_LAYER", 4)
    reads: list[int] = []

    def pages_of(part: WebDbPart | None) -> Iterator[PageState]:
        reads.append(1)
        yield from liveness.pages_of(part)

    monkeypatch.setattr(task, "pages_of", pages_of)
    found, counts = [], []
    for name in ("changes", "all"):
        if name == "all":
            monkeypatch.setattr(task, "changed_rows", lambda *_: None)
        work = work_on(tmp_path / name, scratch, merge_every=1)
        crawl(work, 1)
        reads.clear()
        files = crawl(work)
        counts.append(len(reads))
        found.append(
            [
                read(work.store, files, frontier=frontier)
                for read in (postings_of, _texts_of)
                for frontier in (False, True)
            ]
        )
    assert found[0] == found[1]
    assert (counts[0] < PARTITIONS) == (most > 0), "only a partition that is new is read as a whole"
    assert counts[1] > PARTITIONS


def _texts_of(store: Store, files: tuple[FileEntry, ...], *, frontier: bool) -> dict[str, tuple[str, str]]:
    records = records_of(store, files, frontier=frontier)
    return {url: (record.title, record.text) for url, record in records.items()}


@pytest.mark.slow
def test_runs_wait_until_a_merge_is_due(tmp_path: Path, scratch: Path) -> None:
    work = work_on(tmp_path, scratch, merge_every=2)
    files = crawl(work, 1)
    assert set(RUN_KINDS) <= kinds(files)
    assert not segments_of(files)
    files = crawl(work, 1)
    assert kinds(files).isdisjoint(RUN_KINDS)
    assert len(records_of(work.store, files)) == 4


def test_a_round_that_is_stopped_after_the_merge_does_not_merge_again(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    merges = []
    merge = IndexStep.run

    def counted(step: IndexStep, work: Work) -> tuple[FileEntry, ...]:
        merges.append(step)
        return merge(step, work)

    monkeypatch.setattr(IndexStep, "run", counted)
    with monkeypatch.context() as patch:
        patch.setattr(RunReport, "end_round", None)  # comes after the commit
        with pytest.raises(TypeError):
            crawl(work, 1)
    forget_last_snapshot(work.store)
    kept = open_round_files(work.store, load_current(work.store).round + 1)
    found = collect(work.store, keep=1, min_age=0, now=2e9, dry_run=True, also_keep=kept)
    # The row of the history belongs to the commit that is undone; the next commit writes its own.
    unnamed = [file.name for file in found.files if not file.name.startswith(f"{HISTORY}/")]
    assert not unnamed, "the journal names what the stopped round has done"
    files = crawl(work, 1)
    assert len(merges) == 1
    assert len(records_of(work.store, files)) == 1


def forget_last_snapshot(store: Store) -> None:
    """Undo a commit: all that a round had done before it is still there."""
    store.delete([snapshot_name(load_current(store).number)])


def test_a_merge_outside_of_rounds_leaves_one_segment_a_partition(tmp_path: Path, scratch: Path) -> None:
    work = work_on(tmp_path, scratch, merge_every=100, frontier=0)
    files = crawl(work)
    assert not segments_of(files)
    snapshot = merge_now(work)
    assert snapshot is not None
    assert len(records_of(work.store, snapshot.files)) == PAGES + 1
    assert snapshot.round == load_current(work.store).round
    assert merge_now(work) is None, "nothing has changed since"
    full = merge_now(work, full=True)
    assert full is not None
    partitions = [segment.partition for segment in segments_of(full.files)]
    assert len(partitions) == len(set(partitions))
    assert postings_of(work.store, full.files) == postings_of(work.store, snapshot.files)


def test_where_there_is_no_crawl_nothing_is_merged(work: Work) -> None:
    with pytest.raises(NotACrawl):
        merge_now(work)
