"""The merge as a job, on each runner of this machine, against a merge of plain dictionaries."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import pytest

from crawlctl.jobs.merge_webdb import WebDBMerger
from crawlctl.pipeline.config.settings import RecrawlSettings, RunnerSettings
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.politeness.host_state import HostState
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.manifest import FileEntry, decode_lines
from crawlctl.pipeline.state.snapshots import Snapshot, commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import host_of, partition_of, webdb_key
from crawlctl.pipeline.webdb.entries import discover, first_entry
from crawlctl.pipeline.webdb.host_table import find_host
from crawlctl.pipeline.webdb.life import next_state
from crawlctl.pipeline.webdb.merge.order import MergeOrder, mapper_lines
from crawlctl.pipeline.webdb.merge.update import inject
from crawlctl.pipeline.webdb.part import lookup, scan, with_parts
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, WebEntry, encode
from crawlctl.pipeline.webdb.repeated.block_sample import mark_of, sample_of
from crawlctl.pipeline.webdb.repeated.block_table import RunBlocks, known_blocks, read_samples
from crawlctl.pipeline.webdb.row_files import write_table

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.config.settings import RunnerName
    from crawlctl.pipeline.runners.job_result import JobResult

PARTITIONS = 4
ROUND = 1
NOW = 1_800_000_000
LATER = NOW + 3600
SEEDS = [f"https://host{number}.example/" for number in range(12)]
RECRAWL = RecrawlSettings()


def home(url: str) -> int:
    return partition_of(host_of(url), PARTITIONS)


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


@pytest.fixture
def seeded(store: LocalStore) -> Snapshot:
    empty = create_crawl(store, PARTITIONS)
    return commit(store, empty, files=inject(store, empty, SEEDS, NOW).files, round_number=0)


def table(store: LocalStore, kind: str, rows: dict[bytes, object], number: int) -> FileEntry:
    keys = sorted(rows)
    blocks = [(keys, [encode(rows[key]) for key in keys])]
    return write_table(store, kind, blocks, partition=number, round_number=ROUND)


def outcome(url: str) -> Outcome:
    return Outcome(Kind.GONE if "host3" in url else Kind.FETCHED, NOW + 60, 200, signature=url.encode())


def found(source: str, number: int) -> dict[str, Fresh]:
    """What a run finds: pages of its own host, one of the next host, and one that everybody links to."""
    named = Fresh(NOW + 60, depth=1, anchors=(f"from {number}",), source=source)
    links = [f"{source}page-{page}" for page in range(5)]
    return dict.fromkeys([*links, SEEDS[(number + 1) % len(SEEDS)], "https://hub.example/"], named)


def blocks_of(store: LocalStore, *urls: str) -> tuple[FileEntry, ...]:
    """Write the blocks of pages of one partition."""
    run = RunBlocks()
    for url in urls:
        run.add(webdb_key(url), b"hash" * 2)
    return run.write(store, partition=home(urls[0]), round_number=ROUND)


def fetch_step(store: LocalStore) -> list[FileEntry]:
    """Write what the fetch tasks of a round leave behind: a run for each seed."""
    entries = []
    for number, url in enumerate(SEEDS):
        fresh = {webdb_key(link): seen for link, seen in found(url, number).items()}
        host = {host_of(url).encode(): HostState(pages=number + 1)}
        entries += [
            table(store, "fresh", dict(fresh), home(url)),
            table(store, "outcomes", {webdb_key(url): outcome(url)}, home(url)),
            table(store, "hosts", dict(host), home(url)),
            *blocks_of(store, url),
        ]
    return entries


def expected() -> dict[str, WebEntry]:
    entries = {url: first_entry(Fresh(NOW, score=1.0), LATER) for url in SEEDS}
    for number, source in enumerate(SEEDS):
        for url, fresh in found(source, number).items():
            known = entries.get(url)
            entries[url] = discover(known, fresh, LATER) if known else first_entry(fresh, LATER)
    for url in SEEDS:
        entries[url] = next_state(entries[url], outcome(url), LATER, RecrawlSettings(), webdb_key(url))
    return entries


def merge(
    store: LocalStore,
    snapshot: Snapshot,
    entries: list[FileEntry],
    folder: Path,
    runner: RunnerName = "forked",
) -> JobResult:
    order = MergeOrder(
        store=store.uri,
        snapshot=snapshot.number,
        round=ROUND,
        partitions=PARTITIONS,
        now=LATER,
        recrawl=RECRAWL,
    )
    (folder / "order.json").write_bytes(encode_order(order))
    (folder / "lines").write_bytes(b"\n".join(mapper_lines(entries)) + b"\n")
    return run_job(
        WebDBMerger,
        [folder / "lines"],
        settings=RunnerSettings(name=runner, workers=2, tmp_dir=str(folder)),
        args=["--order", str(folder / "order.json"), "--reducers", str(PARTITIONS)],
    )


def adopt(store: LocalStore, snapshot: Snapshot, result: JobResult) -> Snapshot:
    files = with_parts(snapshot, decode_lines((line for _, line in result.output), "output"))
    return commit(store, snapshot, files=files, round_number=ROUND)


def webdb(store: LocalStore, snapshot: Snapshot) -> dict[str, WebEntry]:
    return {url: entry for number in range(PARTITIONS) for url, entry in scan(store, snapshot, number)}


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["inline", "forked", "local"])
def test_every_runner_merges_a_round_alike(
    store: LocalStore, seeded: Snapshot, tmp_path: Path, runner: RunnerName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = merge(store, seeded, fetch_step(store), tmp_path, runner)
    after = adopt(store, seeded, result)
    assert webdb(store, after) == expected()
    assert result.counters.group("webdb") == {
        "new": len(expected()) - len(SEEDS),
        "updated": len(SEEDS),
        "untouched": 0,
    }
    for url in expected():
        assert lookup(store, after, url) is not None, "it lies in the partition of its host"
    tables = [entry for number in range(PARTITIONS) for entry in after.files_of("blocks", number)]
    samples = dict(row for entry in tables for row in read_samples(store, entry))
    assert samples == {
        host_of(url).encode(): sample_of([(mark_of(webdb_key(url)), b"hash" * 2)]) for url in SEEDS
    }


def test_hosts_are_carried_forward_and_the_last_run_wins(
    store: LocalStore, seeded: Snapshot, tmp_path: Path
) -> None:
    first = adopt(store, seeded, merge(store, seeded, fetch_step(store), tmp_path))
    url, other = SEEDS[:2]
    runs = [
        table(store, "hosts", {host_of(url).encode(): HostState(pages=pages)}, home(url)) for pages in (7, 8)
    ]
    second = adopt(store, first, merge(store, first, runs, tmp_path))
    assert find_host(store, second, host_of(url)) == HostState(pages=8)
    assert find_host(store, second, host_of(other)) == HostState(pages=2)
    assert find_host(store, second, "nowhere.example") is None
    assert webdb(store, second) == webdb(store, first)


def test_blocks_are_carried_forward_and_the_next_round_knows_them(
    store: LocalStore, seeded: Snapshot, tmp_path: Path
) -> None:
    first = adopt(store, seeded, merge(store, seeded, fetch_step(store), tmp_path))
    url, other = SEEDS[:2]
    runs = [*blocks_of(store, f"{url}1", f"{url}2"), *blocks_of(store, *(f"{url}{page}" for page in "345"))]
    assert known_blocks(store, first, home(url)).repeated(host_of(url)) == b""
    second = adopt(store, first, merge(store, first, runs, tmp_path))
    assert known_blocks(store, second, home(url)).repeated(host_of(url)) == b"hash" * 2
    before, after = (
        [row for entry in one.files_of("blocks", home(other)) for row in read_samples(store, entry)]
        for one in (first, second)
    )
    assert dict(before)[host_of(other).encode()] == dict(after)[host_of(other).encode()]


def test_partitions_nobody_spoke_of_keep_their_files(
    store: LocalStore, seeded: Snapshot, tmp_path: Path
) -> None:
    url = SEEDS[0]
    entries = [table(store, "outcomes", {webdb_key(url): outcome(url)}, home(url))]
    after = adopt(store, seeded, merge(store, seeded, entries, tmp_path))
    for number in range(PARTITIONS):
        same = after.files_of("webdb", number) == seeded.files_of("webdb", number)
        assert same == (number != home(url))


def test_a_file_that_was_cut_off_is_an_error_that_names_it(
    store: LocalStore, seeded: Snapshot, tmp_path: Path
) -> None:
    entries = fetch_step(store)
    path = store.root / entries[0].name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CorruptFile, match=entries[0].name):
        merge(store, seeded, entries, tmp_path)


def test_mappers_are_given_every_file_once_and_about_as_much_each() -> None:
    sizes = [9 << 20, 5 << 20, 4 << 20, 3 << 20, 2 << 20, 1 << 20]
    entries = [entry("fresh", number, size) for number, size in enumerate(sizes)]
    entries += [entry("outcomes", 7, 100), entry("hosts", 7, 10), entry("pages", 7, 1 << 40)]
    lines = [msgspec.json.decode(line)[0] for line in mapper_lines(entries)]
    assert len(lines) == 3
    dealt = Counter(number for line in lines for _, number, _ in line)
    assert dealt == Counter(range(8)), "and pages are not the business of the merge"
    loads = [sum(file["bytes"] for _, _, file in line) for line in lines]
    assert max(loads) < 2 * min(loads)


def test_without_anything_heard_there_is_no_line() -> None:
    assert mapper_lines([entry("pages", 0, 1)]) == []


def entry(kind: str, partition: int, size: int) -> FileEntry:
    return FileEntry(kind, partition, f"{kind}/{partition}", size, 1, "00" * 32)
