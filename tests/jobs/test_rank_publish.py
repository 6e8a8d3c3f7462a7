"""The job that publishes a solution, on each runner of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.jobs.rank_publish import RankPublish
from crawlctl.pipeline.rank.order import PublishOrder
from crawlctl.pipeline.rank.publish.rank_tables import first_ranks
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.part import with_parts
from crawlctl.tests.jobs.ranking import DAMPING, iterate, make_graph, manifest, ranks_by_url, run
from crawlctl.tests.pipeline.rank.stored import FETCHED, store_crawl

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.config.settings import RunnerName
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

pytestmark = pytest.mark.slow

PARTITIONS = 2
URLS = [f"https://{host}.example/{page}" for host in "abc" for page in range(2)]
TOLERANCE = 1e-9


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalStore:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return LocalStore(tmp_path / "crawl")


def published(
    store: LocalStore, links: dict[str, list[str]], folder: Path, runner: RunnerName
) -> tuple[Snapshot, tuple[FileEntry, ...], dict[str, float]]:
    """Return the snapshot, the files of the job, and the ranks of the solution that it published."""
    entries = dict.fromkeys(URLS, FETCHED) | {URLS[0]: replace(FETCHED, depth=0)}
    snapshot = store_crawl(store, entries, links, PARTITIONS)
    graph = make_graph(store, snapshot, folder)
    solution, _ = iterate(store, graph, [(0, PARTITIONS)], folder, tolerance=TOLERANCE)
    order = PublishOrder(
        store=store.uri,
        snapshot=snapshot.number,
        round=2,
        partitions=PARTITIONS,
        graph=graph,
        ranks=solution,
        scores=solution,
        damping=DAMPING,
        tolerance=TOLERANCE,
    )
    lines = [b"%d" % number for number in range(PARTITIONS)]
    files = manifest(run(RankPublish, order, lines, folder, runner))
    return snapshot, files, ranks_by_url(store, snapshot, graph, solution)


@pytest.mark.parametrize("runner", ["inline", "forked", "local"])
def test_every_runner_publishes_the_ranks_of_the_solution(
    store: LocalStore, tmp_path: Path, runner: RunnerName
) -> None:
    links = {page: [URLS[0], URLS[(number * 5 + 1) % 6]] for number, page in enumerate(URLS)}
    snapshot, files, ranks = published(store, links, tmp_path, runner)
    assert dict(first_ranks(store, files, "url", 10)) == pytest.approx(ranks)
    hosts = dict(first_ranks(store, files, "host", 10))
    assert set(hosts) == {"a.example", "b.example", "c.example"}
    assert sum(hosts.values()) == pytest.approx(1)
    assert max(hosts, key=hosts.__getitem__) == "a.example"
    assert {entry.partition for entry in with_parts(snapshot, files) if entry.kind == "webdb"} == {0, 1}


def test_hosts_are_ranked_even_if_none_links_to_another(store: LocalStore, tmp_path: Path) -> None:
    links = {page: [other] for page, other in zip(URLS[::2], URLS[1::2], strict=True)}
    _, files, _ = published(store, links, tmp_path, "inline")
    hosts = dict(first_ranks(store, files, "host", 10))
    assert hosts == pytest.approx(dict.fromkeys(("a.example", "b.example", "c.example"), 1 / 3))
