"""A whole ranking of a small crawl, in one task and in several, stopped and gone on with."""

from __future__ import annotations

import dataclasses
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import (
    Config,
    FocusSettings,
    IndexSettings,
    RankSettings,
    RunnerSettings,
)
from crawlctl.pipeline.config.units import Size
from crawlctl.pipeline.crawl import ranking
from crawlctl.pipeline.crawl.indexing import merge_now, with_groups
from crawlctl.pipeline.crawl.rank_due import judge, rank_changes, unranked_rounds
from crawlctl.pipeline.crawl.ranking import rank_now
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.duplicates.grouping_due import are_grouped
from crawlctl.pipeline.errors import ConfigError, StoreError
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.priors import prior_byte, read_priors
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, segments_of
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.rank.publish.rank_explanation import explain_rank
from crawlctl.pipeline.rank.publish.rank_tables import first_ranks
from crawlctl.pipeline.rank.solve import block_jacobi, iteration, one_task
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.kinds import GROUPS
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import stable_hash
from crawlctl.pipeline.webdb.part import lookup, scan
from crawlctl.pipeline.webdb.records import Status
from crawlctl.tests.pipeline.rank.graphs import dense_rank, graph
from crawlctl.tests.pipeline.rank.stored import FETCHED, add_runs, store_crawl

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats
    from crawlctl.pipeline.rank.solve.task_matrix import TaskMatrix

PARTITIONS = 3
NEAR = Config().parse.near_duplicate
URLS = [f"https://{host}.example/{page}" for host in ("a", "b", "c.b") for page in range(3)]
FRONTIER = "https://a.example/frontier"
PAGES = [*URLS, FRONTIER]
LINKS = {page: [URLS[0], URLS[(number * 5 + 1) % 9]] for number, page in enumerate(URLS)} | {
    URLS[0]: [URLS[3], URLS[6], FRONTIER]
}

# A process that ranks and dies as of a power cut, when some tasks have written their state of round 5.
KILLED_RANKING = """
import os, signal, sys
from crawlctl.pipeline.rank.solve.iteration import TaskSolver
from crawlctl.pipeline.crawl import ranking
from crawlctl.pipeline.config.units import Size
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.crawl.test_ranking import PARTITIONS, work

calls, next_round = iter(range(10_000)), TaskSolver.next_round

def dying(*args):
    if next(calls) == 4 * PARTITIONS + 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return next_round(*args)

TaskSolver.next_round, ranking.ROUNDS_PER_JOB = dying, 2
ranking.rank_now(work(LocalStore(sys.argv[1]), memory=Size(1), tolerance=1e-9))
"""


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    store = LocalStore(tmp_path / "crawl")
    entries = dict.fromkeys(URLS, FETCHED) | {FRONTIER: replace(FETCHED, status=Status.UNFETCHED)}
    store_crawl(store, entries | {URLS[0]: replace(FETCHED, depth=0)}, LINKS, PARTITIONS)
    return store


def work(store: LocalStore, **rank: object) -> Work:
    config = Config(store=store.uri, runner=RunnerSettings(name="inline"), rank=RankSettings(**rank))  # type: ignore[arg-type]
    return Work(store, config, Display())


def expected(teleport: list[str], links: dict[str, list[str]] = LINKS) -> dict[str, float]:
    arcs = {(PAGES.index(page), PAGES.index(to)) for page, some in links.items() for to in some if to != page}
    wanted = np.array([page in teleport for page in PAGES]) / len(teleport)
    return dict(zip(PAGES, dense_rank(graph(len(PAGES), sorted(arcs)), wanted).tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("memory", [1 << 30, 1], ids=["in one task", "in rounds"])
def test_a_ranking_is_committed_with_ranks_scores_and_tables(store: LocalStore, memory: int) -> None:
    before = load_current(store)
    after = rank_now(work(store, memory=Size(memory), tolerance=1e-9))
    assert after.round == before.round and after.number == before.number + 1
    ranked = dict(first_ranks(store, after.files, "url", 99))
    assert ranked == pytest.approx(expected(PAGES), abs=1e-9)
    assert list(ranked.values()) == sorted(ranked.values(), reverse=True)
    assert sum(ranked.values()) == pytest.approx(1, abs=1e-12)
    scores = {url: entry.score for number in range(PARTITIONS) for url, entry in scan(store, after, number)}
    from_seed = {url: rank * len(PAGES) for url, rank in expected([URLS[0]]).items()}
    assert scores == pytest.approx(from_seed, abs=1e-7)
    hosts = dict(first_ranks(store, after.files, "host", 99))
    assert set(hosts) == {"a.example", "b.example", "c.b.example"}
    assert set(dict(first_ranks(store, after.files, "domain", 99))) == {"a.example", "b.example"}
    assert sum(hosts.values()) == pytest.approx(1, abs=1e-12)


def test_links_count_from_the_merged_index_too_and_documents_get_priors(store: LocalStore) -> None:
    merged = merge_now(work(store))
    assert merged is not None and not merged.files_of("links"), "the runs are used up"
    after = rank_now(work(store, tolerance=1e-9))
    ranks = expected(PAGES)
    assert dict(first_ranks(store, after.files, "url", 99)) == pytest.approx(ranks, abs=1e-9)
    priors = read_priors(store, after.files)
    known: dict[int, int] = {}
    for segment in segments_of(after.files):
        columns = ColumnReader(segment.open(store, COLUMNS), segment.documents)
        known |= dict(
            zip(columns.column("hashes"), priors[segment.partition].of(segment.name) or b"", strict=True)
        )
    for url in URLS:
        assert known[stable_hash(url)] == pytest.approx(prior_byte(ranks[url] * len(PAGES)), abs=1)


def test_a_crawl_that_was_never_ranked_has_all_its_rounds_to_rank(store: LocalStore) -> None:
    assert unranked_rounds(load_current(store)) == 1


def test_all_but_the_score_of_an_entry_stays(store: LocalStore) -> None:
    before = lookup(store, load_current(store), FRONTIER)
    after = lookup(store, rank_now(work(store)), FRONTIER)
    assert before is not None and after is not None
    assert after.score != before.score
    assert replace(after, score=0.0) == replace(before, score=0.0)


def test_ranks_may_be_seen_from_some_pages(store: LocalStore, tmp_path: Path) -> None:
    named = tmp_path / "pages.txt"
    named.write_text(f"{URLS[4]}\n{URLS[7]}\n")
    after = rank_now(work(store, teleport=str(named), tolerance=1e-9))
    ranked = dict(first_ranks(store, after.files, "url", 99))
    assert ranked == pytest.approx(expected([URLS[4], URLS[7]]), abs=1e-9)
    named.write_text("https://nobody.example/\n")
    with pytest.raises(ConfigError, match="none of its URLs"):
        rank_now(work(store, teleport=str(named)))


def test_a_focus_raises_the_scores_of_what_a_crawl_looks_for(store: LocalStore) -> None:
    plain = work(store, tolerance=1e-9)
    looking = FocusSettings(terms=("frontier",), weight=9.0)
    after = rank_now(dataclasses.replace(plain, config=replace(plain.config, focus=looking)))
    scores = {url: entry.score for number in range(PARTITIONS) for url, entry in scan(store, after, number)}
    wanted = {url: rank * len(PAGES) for url, rank in expected([URLS[0]]).items()}
    assert scores == pytest.approx(wanted | {FRONTIER: 10 * wanted[FRONTIER]}, abs=1e-6)


def test_a_second_ranking_replaces_the_first(store: LocalStore) -> None:
    first = rank_now(work(store))
    second = rank_now(work(store))
    for kind in ("ranks", "graph", "webdb", "links"):
        assert len(second.files_of(kind)) == len(first.files_of(kind)), kind


@pytest.mark.slow
@pytest.mark.parametrize(
    "stop", [3, *(pytest.param(stop, marks=pytest.mark.integration) for stop in (2, 4, 5, 6))]
)
def test_a_ranking_that_was_stopped_goes_on_where_it_was(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    shutil.copytree(tmp_path / "crawl", tmp_path / "other")
    jobs: list[str] = []
    stops = {stop}

    def stopping(job: type, *args: object, **options: object) -> object:
        jobs.append(job.__name__)
        if len(jobs) in stops:
            raise KeyboardInterrupt
        return run_job(job, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("crawlctl.pipeline.crawl.work.run_job", stopping)
    monkeypatch.setattr(ranking, "ROUNDS_PER_JOB", 2)
    settings = {"memory": Size(1), "tolerance": 1e-9}
    with pytest.raises(KeyboardInterrupt):
        rank_now(work(store, **settings))
    after = rank_now(work(store, **settings))
    stopped, jobs[:], stops = list(jobs), [], set()
    undisturbed = LocalStore(tmp_path / "other")
    whole = rank_now(work(undisturbed, **settings))
    assert jobs.count("RankIterate") > 4, "or the ranking was over before it was stopped"
    assert stopped == [*jobs[: stop - 1], *jobs[stop - 1 : stop], *jobs[stop - 1 :]], "one job is run twice"
    ranked = dict(first_ranks(store, after.files, "url", 99))
    assert ranked == dict(first_ranks(undisturbed, whole.files, "url", 99)), "to the last bit"
    assert ranked == pytest.approx(expected(PAGES), abs=1e-9)


@pytest.mark.slow
def test_a_ranking_that_was_killed_amid_a_round_goes_on_from_its_last_job(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    died = subprocess.run([sys.executable, "-c", KILLED_RANKING, store.uri], check=False)
    assert died.returncode == -signal.SIGKILL
    assert not load_current(store).files_of("ranks")
    jobs: list[str] = []

    def noted(job: type, *args: object, **options: object) -> object:
        jobs.append(job.__name__)
        return run_job(job, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("crawlctl.pipeline.crawl.work.run_job", noted)
    monkeypatch.setattr(ranking, "ROUNDS_PER_JOB", 2)
    after = rank_now(work(store, memory=Size(1), tolerance=1e-9))
    assert "RankGraph" not in jobs
    assert dict(first_ranks(store, after.files, "url", 99)) == pytest.approx(expected(PAGES), abs=1e-9)


def test_a_rank_is_explained_by_those_who_give_it(store: LocalStore) -> None:
    snapshot = rank_now(work(store, tolerance=1e-9))
    found = explain_rank(store, snapshot, URLS[0], limit=99)
    assert found is not None
    ranks = expected(PAGES)
    assert found.rank == pytest.approx(ranks[URLS[0]], abs=1e-9)
    shares = {giver.url: giver.share for giver in found.givers}
    degrees = {page: len({to for to in some if to != page}) for page, some in LINKS.items()}
    linking = {page: 0.85 * ranks[page] / degrees[page] / ranks[URLS[0]] for page in URLS[1:]}
    assert shares == pytest.approx(linking, abs=1e-6)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert explain_rank(store, snapshot, "https://nobody.example/") is None


def test_without_ranks_the_error_says_how_to_get_them(store: LocalStore) -> None:
    with pytest.raises(StoreError, match="crawlctl rank"):
        first_ranks(store, load_current(store).files, "url", 1)
    assert explain_rank(store, load_current(store), URLS[0]) is None


@pytest.mark.parametrize(
    ("every", "rounds", "last", "due"),
    [
        (0, 3, False, False),
        (0, 3, True, True),
        (0, 0, True, False),
        (2, 1, False, False),
        (2, 2, False, True),
        (2, 1, True, True),
        (None, 5, True, False),
    ],
)
def test_when_a_run_ranks(store: LocalStore, every: int | None, rounds: int, last: bool, due: bool) -> None:
    ranked = rank_now(work(store))
    assert unranked_rounds(ranked) == 0
    later = replace(ranked, round=ranked.round + rounds)
    settings = work(store, every=every).config.rank
    assert judge(settings, rank_changes(store, later), 0, last=last).is_due is due


def test_settings_out_of_range_are_refused() -> None:
    for wrong in ({"damping": 1.0}, {"tolerance": 0.0}, {"every": -1}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(wrong, RankSettings)


def test_a_ranking_begins_with_the_last_one(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "WARM_FROM", 1)
    starts: list[bool] = []
    solve = one_task.Matrix.solve

    def seen(*args: Any, **options: Any) -> one_task.Solution:
        starts.append(options.get("start") is not None)
        return solve(*args, **options)

    monkeypatch.setattr(one_task.Matrix, "solve", seen)
    first = rank_now(work(store, tolerance=1e-9))
    assert not any(starts)
    starts.clear()
    again = rank_now(work(store, tolerance=1e-9))
    assert starts[:2] == [True, True], "both teleports; hosts and domains are ranked from scratch"
    before, after = (dict(first_ranks(store, one.files, "url", 99)) for one in (first, again))
    assert after == pytest.approx(before, abs=2e-9)


def test_a_ranking_in_parts_begins_with_the_last_one_as_far_as_its_urls_have_ranks(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "WARM_FROM", 1)
    starts: list[Floats | None] = []
    begin = block_jacobi.first_round

    def seen(matrix: TaskMatrix, last: Floats | None = None) -> block_jacobi.RoundResult:
        starts.append(last)
        return begin(matrix, last)

    monkeypatch.setattr(iteration, "first_round", seen)
    in_parts = work(store, memory=Size(1), tolerance=1e-9)
    before = rank_now(in_parts)
    assert starts and all(last is None for last in starts)
    starts.clear()
    changed, links = {URLS[1]: [URLS[8]]}, LINKS | {URLS[1]: [URLS[8]]}
    add_runs(store, before, {}, {page: [(to, False) for to in targets] for page, targets in changed.items()})
    after = rank_now(in_parts)
    assert starts and all(last is not None for last in starts)
    found = dict(first_ranks(store, after.files, "url", 99))
    assert found == pytest.approx(expected(PAGES, links), abs=1e-9)
    assert found != pytest.approx(expected(PAGES), abs=1e-3)


def test_groups_stay_when_pages_are_ranked_and_are_made_anew_where_nothing_says_what_was_compared(
    store: LocalStore,
) -> None:
    merged = merge_now(work(store))
    assert merged is not None and are_grouped(merged.files, NEAR)
    ranked = rank_now(work(store))
    assert are_grouped(ranked.files, NEAR)
    same = with_groups(work(store), ranked.files, ranked.round)
    assert {one.name for one in same} == {one.name for one in ranked.files}
    older = tuple(replace(one, counters={}) if one.kind == GROUPS else one for one in ranked.files)
    assert not are_grouped(older, NEAR), "groups of older releases and of copies with other partitions"
    grouped = with_groups(work(store), older, ranked.round)
    assert are_grouped(grouped, NEAR)
    assert {one.counters["grouped"] for one in grouped if one.kind == GROUPS} == {
        one.counters["grouped"] for one in ranked.files if one.kind == GROUPS
    }


def test_without_grouping_there_are_no_groups(store: LocalStore) -> None:
    merged = merge_now(work(store))
    assert merged is not None and merged.files_of(GROUPS)
    off = work(store)
    off = dataclasses.replace(off, config=replace(off.config, index=IndexSettings(group_duplicates=False)))
    assert not [one for one in with_groups(off, merged.files, 1) if one.kind == GROUPS]


def test_a_small_graph_is_ranked_from_scratch_so_its_ranks_do_not_depend_on_earlier_ones(
    store: LocalStore,
) -> None:
    first, again = (first_ranks(store, rank_now(work(store)).files, "url", 99) for _ in range(2))
    assert first == again, "to the last bit"
