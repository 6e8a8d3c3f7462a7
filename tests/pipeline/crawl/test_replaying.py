"""A replay of the crawl's own archive finds what the crawl has seen, without asking a host."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.crawl.replaying import LINKS_ONLY, replay
from crawlctl.pipeline.crawl.round_steps import merge_webdb
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.imports.order import ReplayWants
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.runs.run_heads import read_heads
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.state.kinds import DICTIONARY, FRESH, GROUPS, PAGES, PRIORS, SEGMENTS
from crawlctl.pipeline.state.snapshots import Snapshot, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import host_of, partition_of
from crawlctl.pipeline.webdb.part import with_parts
from crawlctl.pipeline.webdb.records import decode_fresh
from crawlctl.pipeline.webdb.row_files import open_table
from crawlctl.tests.comparison import web_entries
from crawlctl.tests.soak.small_web import crawl_all, small_config, small_web

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.pipeline.config.settings import Config

pytestmark = pytest.mark.slow


def depths(store: LocalStore, snapshot: Snapshot | None = None) -> dict[str, int]:
    return {url: entry.depth for url, entry in web_entries(store, snapshot or load_current(store))}


def config_of(folder: Path, depth: int, **sections: dict[str, object]) -> Config:
    return small_config(folder, scope={"max_depth": depth}, **sections)


@pytest.fixture(scope="module")
def web() -> Iterator[list[str]]:
    with small_web() as sites:
        yield [site.url() for site in sites]


@pytest.fixture(scope="module")
def shallow(web: list[str], tmp_path_factory: pytest.TempPathFactory) -> LocalStore:
    """A crawl to depth 1, to which tests add files and no snapshot."""
    folder = tmp_path_factory.mktemp("shallow")
    store = LocalStore(folder / "crawl")
    crawl_all(store, config_of(folder, 1), web, iterations=3)
    return store


def test_a_replay_with_more_depth_finds_the_links_that_a_fresh_crawl_would_know(
    web: list[str], shallow: LocalStore, tmp_path: Path
) -> None:
    deep = LocalStore(tmp_path / "deep")
    # A crawl that knows the links at depth 2 and has not fetched them: they wait for the next round.
    crawl_all(deep, config_of(tmp_path, 2), web, iterations=2)
    before, snapshot = depths(shallow), load_current(shallow)
    work = Work(shallow, config_of(tmp_path, 1), Display())
    found = replay(work, snapshot, LINKS_ONLY, config=config_of(tmp_path, 2))
    assert {entry.kind for entry in found} == {FRESH}
    merged = replace(snapshot, files=with_parts(snapshot, merge_webdb(work, snapshot, found)))
    assert depths(shallow, merged) == depths(deep)
    assert len(depths(deep)) > len(before)
    states = {url: entry.status for url, entry in web_entries(shallow, snapshot)}
    assert {url: entry.status for url, entry in web_entries(shallow, merged) if url in states} == states


def test_a_replay_under_the_same_settings_finds_nothing_new(shallow: LocalStore, tmp_path: Path) -> None:
    snapshot = load_current(shallow)
    work = Work(shallow, config_of(tmp_path, 1), Display())
    found = replay(work, snapshot)
    links = {key for entry in found for key, _ in open_table(shallow, entry)}
    assert len(links) <= len(depths(shallow))
    merged = replace(snapshot, files=with_parts(snapshot, merge_webdb(work, snapshot, found)))
    assert depths(shallow, merged) == depths(shallow)


def test_an_archive_that_was_emptied_is_named_and_not_taken_for_one_without_pages(
    shallow: LocalStore, tmp_path: Path
) -> None:
    store = LocalStore(copytree(shallow.root, tmp_path / "crawl"))
    archive = load_current(store).files_of(PAGES)[0]
    (store.root / archive.name).write_bytes(b"")
    with pytest.raises(CorruptFile, match=rf"{archive.name}: damaged at byte 0: it has 0 bytes instead of "):
        replay(Work(store, config_of(tmp_path, 2), Display()), load_current(store))


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_only_the_partitions_asked_for_are_read(
    web: list[str], shallow: LocalStore, tmp_path: Path, runner: str
) -> None:
    config = config_of(tmp_path, 2, runner={"name": runner, "tmp_dir": str(tmp_path)})
    snapshot = load_current(shallow)
    home = partition_of(host_of(web[0]), snapshot.partitions)
    found = replay(Work(shallow, config, Display()), snapshot, partitions=[home])
    assert {entry.partition for entry in found} == {home}
    sources = {decode_fresh(value).source for entry in found for _, value in open_table(shallow, entry)}
    assert {partition_of(host_of(url), snapshot.partitions) for url in sources} == {home}


def test_documents_that_the_index_has_lost_come_back(web: list[str], tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    config = config_of(tmp_path, 2, recrawl={"pace": {"initial": "1s", "minimum": "1s"}})
    crawl_all(store, config, web, iterations=4)  # the second visits end in revisits
    snapshot = load_current(store)
    lost = (SEGMENTS, DICTIONARY, GROUPS, PRIORS)
    draft = replace(snapshot, files=tuple(entry for entry in snapshot.files if entry.kind not in lost))
    work = Work(store, config, Display())
    found = replay(work, draft, ReplayWants(documents=True), is_draft=True)
    assert {entry.kind for entry in found} == {"docs", "postings", "links"}
    heads = [head for run in runs_of(found) for _, head in read_heads(store, run.docs_heads)]
    live = {url: entry for url, entry in web_entries(store, snapshot) if entry.live}
    assert {head.url for head in heads} == set(live)
    assert len(heads) == len(live)
    assert all(head.signature == live[head.url].signature for head in heads)
    assert replay(work, snapshot, ReplayWants(documents=True)) == ()
