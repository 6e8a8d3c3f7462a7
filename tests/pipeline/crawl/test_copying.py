"""Copies of whole crawls: the same bytes, again and again, whatever stops them on the way."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.config.settings import Config, Pace, RecrawlSettings, RunnerSettings
from crawlctl.pipeline.config.units import DAY, Duration
from crawlctl.pipeline.copies import copy_files as transfers
from crawlctl.pipeline.copies.repartition.task import PartitionCopier
from crawlctl.pipeline.crawl import copying
from crawlctl.pipeline.crawl.copying import copy_crawl
from crawlctl.pipeline.crawl.indexing import merge_now
from crawlctl.pipeline.crawl.rounds import run_rounds
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.errors import ConfigError, CorruptFile, NotACrawl, StoreBusy, StoreError
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.search.answer.find import find
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.search.rules.rules_file import with_rules
from crawlctl.pipeline.state.garbage import collect
from crawlctl.pipeline.state.journal import put_run
from crawlctl.pipeline.state.kinds import COMPOUND, RULES
from crawlctl.pipeline.state.leases.lease import hold_lease
from crawlctl.pipeline.state.own_settings import write_own_settings
from crawlctl.pipeline.state.snapshots import commit, load_current, snapshot_numbers
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.copies.answers import answers_of
from crawlctl.tests.pipeline.copies.holdings import holdings
from crawlctl.tests.pipeline.copies.made_crawl import make_crawl, work_on
from crawlctl.tests.pipeline.search.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry

YEARS = Duration(5000 * DAY)
SEEDS = ["https://host0.example/0"]
KILLS = 5
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Killed(BaseException):
    """What nothing on the way may take for an error it can deal with."""


class Listener(Display):
    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> LocalStore:
    store = LocalStore(tmp_path_factory.mktemp("made") / "crawl")
    make_crawl(store, 4)
    return store


@pytest.fixture
def own(crawl: LocalStore, tmp_path: Path) -> LocalStore:
    """A crawl that the test may write to."""
    shutil.copytree(crawl.root, tmp_path / "own")
    return LocalStore(tmp_path / "own")


@pytest.fixture
def copy(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "copy")


def data(store: LocalStore) -> dict[str, bytes]:
    """Return all files but those that say who works on the store."""
    files = [file for file in store.list() if not file.name.startswith(("lease/", "copies/", "rounds/"))]
    return {file.name: store.read(file.name) for file in files}


def live(store: LocalStore) -> dict[str, bytes]:
    """Return the files of the current snapshot, and itself."""
    snapshot = load_current(store)
    names = [entry.name for entry in snapshot.files] + [f"snapshots/{snapshot.number:08d}.json"]
    return {name: store.read(name) for name in names}


@pytest.mark.slow
def test_a_copy_has_the_same_bytes_and_nothing_else(crawl: LocalStore, copy: LocalStore) -> None:
    report = copy_crawl(work_on(crawl), copy)
    assert data(copy) == live(crawl)
    snapshot = load_current(crawl)
    assert (report.copied, report.present, report.rewritten) == (len(snapshot.files), 0, 0)
    assert report.bytes == sum(entry.bytes for entry in snapshot.files)
    assert answers_of(copy) == answers_of(crawl)


def test_a_second_copy_copies_nothing(crawl: LocalStore, copy: LocalStore) -> None:
    copy_crawl(work_on(crawl), copy)
    before = data(copy)
    report = copy_crawl(work_on(crawl), copy, verify=True)
    assert (report.copied, report.present) == (0, len(load_current(crawl).files))
    assert data(copy) == before


def test_a_copy_in_a_remote_store_has_a_compound_file_and_keeps_it(crawl: LocalStore) -> None:
    remote = MemoryStore()
    copy_crawl(work_on(crawl), remote)
    (compound,) = load_current(remote).files_of(COMPOUND)
    assert compound.name in remote.files
    before = load_current(remote)
    assert copy_crawl(work_on(crawl), remote).copied == 0
    assert load_current(remote) == before


def test_a_copy_in_other_partitions_keeps_the_rules_of_searches(own: LocalStore, copy: LocalStore) -> None:
    blocks = {"*": ["host1.example"]}
    entry = write_own_settings(own, {"search.blocks": blocks}, 1)
    before = load_current(own)
    files = with_rules(own, before, (*before.files, entry))
    commit(own, before, files=files, round_number=before.round)
    copy_crawl(work_on(own), copy, partitions=3)
    assert load_current(copy).files_of(RULES)
    found, kept = (find(open_index(store), parse("*")).total for store in (own, copy))
    assert found == kept > 0


def test_a_copy_that_is_behind_gets_the_new_files_only(own: LocalStore, copy: LocalStore) -> None:
    first = copy_crawl(work_on(own), copy)
    assert merge_now(work_on(own), full=True) is not None
    new = {entry.name for entry in load_current(own).files} - data(copy).keys()
    report = copy_crawl(work_on(own), copy)
    assert (report.copied, report.snapshot) == (len(new), first.snapshot + 1)
    assert live(copy) == live(own)
    assert snapshot_numbers(copy) == (first.snapshot, report.snapshot)


@pytest.mark.slow
def test_a_repartitioned_copy_is_brought_up_to_date_in_its_own_partitions(
    own: LocalStore, copy: LocalStore
) -> None:
    copy_crawl(work_on(own), copy, partitions=3)
    merge_now(work_on(own), full=True)
    report = copy_crawl(work_on(own), copy)
    assert report.partitions == 3 and report.rewritten > 0
    assert holdings(copy) == holdings(own)
    again = copy_crawl(work_on(own), copy, partitions=3)
    assert (again.copied, again.rewritten, again.snapshot) == (0, 0, report.snapshot)


def test_gc_leaves_a_copy_as_it_is(crawl: LocalStore, copy: LocalStore) -> None:
    copy_crawl(work_on(crawl), copy, partitions=3)
    found = collect(copy, keep=1, min_age=0, now=time.time() + 1)
    assert not found.files and not found.snapshots
    assert copy_crawl(work_on(crawl), copy).rewritten == 0


@pytest.mark.parametrize("files", [0, 1, 50, 150])
def test_a_copy_that_was_stopped_goes_on_with_what_is_missing(
    crawl: LocalStore, copy: LocalStore, files: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = transfers._Transfer._copy
    done: list[FileEntry] = []

    def stopping(self: Any, entry: FileEntry) -> None:
        if len(done) == files:
            raise Killed
        real(self, entry)
        done.append(entry)

    with monkeypatch.context() as patch:
        patch.setattr(transfers._Transfer, "_copy", stopping)
        patch.setattr(transfers, "AT_ONCE", 1)
        with pytest.raises(Killed):
            copy_crawl(work_on(crawl), copy)
    with pytest.raises(NotACrawl):
        load_current(copy)
    report = copy_crawl(work_on(crawl), copy)
    assert (report.present, report.copied) == (files, len(load_current(crawl).files) - files)
    assert data(copy) == live(crawl)


@pytest.mark.slow
def test_partitions_that_were_finished_are_not_made_again(
    crawl: LocalStore, copy: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = PartitionCopier._files
    made: list[int] = []

    def stopping(self: Any, share: Any) -> Any:
        made.append(share.number)
        if len(made) == 4:
            raise Killed
        return real(self, share)

    monkeypatch.setattr(PartitionCopier, "_files", stopping)
    with pytest.raises(Killed):
        copy_crawl(work_on(crawl), copy, partitions=7)
    copy_crawl(work_on(crawl), copy)
    assert sorted(made) == [0, 1, 2, 3, 3, 4, 5, 6]
    assert holdings(copy) == holdings(crawl)


def test_a_copy_killed_before_its_commit_has_only_that_left(
    crawl: LocalStore, copy: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(copying, "publish", stop)
        with pytest.raises(Killed):
            copy_crawl(work_on(crawl), copy)
    assert copy_crawl(work_on(crawl), copy).copied == 0
    assert data(copy) == live(crawl)


def test_a_round_that_is_open_stays_behind_and_is_spoken_of(own: LocalStore, copy: LocalStore) -> None:
    listener = Listener()
    work = Work(own, work_on(own).config, listener)
    put_run(own, load_current(own).round + 1, 0, [])
    copy_crawl(work, copy)
    assert any("is not finished and is not copied" in text for text in listener.said)
    assert not list(copy.list("rounds/"))


def test_a_store_that_is_in_use_is_not_copied_to(crawl: LocalStore, copy: LocalStore) -> None:
    with hold_lease(copy, 60, "run"), pytest.raises(StoreBusy):
        copy_crawl(work_on(crawl), copy)
    assert not list(copy.list("copies/"))


def test_what_cannot_be_copied_leaves_nothing_behind(
    crawl: LocalStore, tmp_path: Path, copy: LocalStore
) -> None:
    with pytest.raises(NotACrawl, match="nothing to copy"):
        copy_crawl(work_on(LocalStore(tmp_path / "nowhere")), copy)
    with pytest.raises(ConfigError, match="the same store"):
        copy_crawl(work_on(crawl), LocalStore(crawl.root))
    with pytest.raises(ConfigError, match="lies inside"):
        copy_crawl(work_on(crawl), LocalStore(crawl.root / "copy"))
    assert not copy.root.exists() and not (crawl.root / "copy").exists()
    copy_crawl(work_on(crawl), copy)
    with pytest.raises(StoreError, match="no copy"):
        copy_crawl(work_on(copy), crawl)
    assert not list(crawl.list("copies/"))


def test_a_damaged_source_makes_no_snapshot(own: LocalStore, copy: LocalStore) -> None:
    entry = load_current(own).files_of("segments")[0]
    (own.root / entry.name).write_bytes(b"x" * entry.bytes)
    with pytest.raises(CorruptFile) as caught:
        copy_crawl(work_on(own), copy)
    assert entry.name in str(caught.value)
    with pytest.raises(NotACrawl):
        load_current(copy)


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch, made_up_web: None, scratch: Path) -> Callable[..., Work]:
    """A function from a store to a work that crawls a made-up web there."""
    monkeypatch.setenv("WEB_PAGES", "40")
    monkeypatch.setenv("WEB_TEXTS", "yes")
    pace = Pace(initial=YEARS, minimum=YEARS, maximum=YEARS)
    config = Config(
        runner=RunnerSettings(name="inline", tmp_dir=str(scratch)),
        recrawl=RecrawlSettings(pace=pace, jitter=0.0),
    )
    return lambda store: Work(store, config, Display())


@pytest.mark.slow
@pytest.mark.parametrize(
    "partitions", [2, *(pytest.param(count, marks=pytest.mark.integration) for count in (None, 7))]
)
def test_a_crawl_goes_on_on_its_copy_as_it_would_have(
    made_up: Callable[..., Work], tmp_path: Path, copy: LocalStore, partitions: int | None
) -> None:
    source = LocalStore(tmp_path / "source")
    run_rounds(made_up(source), iterations=3, partitions=4, seeds=SEEDS)
    copy_crawl(made_up(source), copy, partitions=partitions)
    for store in (source, copy):
        run_rounds(made_up(store), iterations=None, partitions=4)
    one, other = holdings(source), holdings(copy)
    assert load_current(copy).round == load_current(source).round > 4
    assert other.hosts == one.hosts
    assert {key: facts[0] for key, facts in other.documents.items()} == {
        key: facts[0] for key, facts in one.documents.items()
    }
    assert other.links == one.links
    # Sums of floating-point numbers depend on their order, and so do scores, in the last digits.
    assert other.webdb.keys() == one.webdb.keys()
    assert {url: float(rank) for url, rank in other.ranks.items()} == pytest.approx(
        {url: float(rank) for url, rank in one.ranks.items()}, abs=1e-9
    )


@pytest.mark.integration
@pytest.mark.timeout(300)
@pytest.mark.parametrize("partitions", [[], ["--partitions", "5"]], ids=["plain", "repartitioned"])
def test_a_copy_that_is_killed_again_and_again_ends_like_one_that_is_not(
    crawl: LocalStore, copy: LocalStore, partitions: list[str]
) -> None:
    program = [sys.executable, "-m", "crawlctl.cli", "copy", *partitions, crawl.uri]
    began = time.monotonic()
    subprocess.run([*program, f"{copy.uri}-undisturbed"], check=True, stdout=subprocess.DEVNULL)
    longest = (time.monotonic() - began) / 3
    command = [*program, copy.uri]
    chance = random.Random(os.environ.get("KILL_SEED", "7"))
    killed = 0
    for _ in range(KILLS):
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while run.poll() is None and not list(copy.list("copies/")):
            time.sleep(0.01)
        time.sleep(chance.uniform(0, longest))
        run.send_signal(chance.choice(SIGNALS))
        run.communicate()
        killed += run.returncode != 0
    assert killed > 1, "it was over before it could be killed"
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert holdings(copy) == holdings(crawl)
    if not partitions:
        assert data(copy) == live(crawl)
