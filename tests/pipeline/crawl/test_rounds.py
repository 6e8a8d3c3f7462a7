"""Rounds over a made-up web: complete, in budget, and the same however often the run was killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from crawlctl.pipeline.config.settings import Config, Pace, RecrawlSettings, RoundSettings, RunnerSettings
from crawlctl.pipeline.config.units import DAY, Duration
from crawlctl.pipeline.crawl.rounds import run_rounds
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.errors import NotACrawl, StoreBusy
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.state.garbage import collect
from crawlctl.pipeline.state.journal import open_round_files
from crawlctl.pipeline.state.leases.lease import Lease, hold_lease
from crawlctl.pipeline.state.leases.lease_records import latest_record
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.host_table import find_host
from crawlctl.pipeline.webdb.merge.update import inject
from crawlctl.pipeline.webdb.part import scan
from crawlctl.tests.pipeline.crawl.said_lines import SaidLines

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.crawl.reports.round_report import RoundReport
    from crawlctl.pipeline.webdb.records import WebEntry

pytestmark = pytest.mark.slow

PARTITIONS = 4
PAGES = 16
KILLS = 12
FEWEST_KILLS = 10
NOW = 1_700_000_000
YEARS = Duration(5000 * DAY)  # nothing falls due again while a test runs
SEEDS = ["https://host0.example/0"]
JOBS = Path(__file__).parents[1] / "runners" / "jobs"
DRIVER = """
import sys
sys.path.insert(0, sys.argv[1])
import msgspec
import stand_in_fetch
import crawlctl.jobs.fetch_index
from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.config.units import decode_unit
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.crawl.rounds import run_rounds
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.store.open import open_store
crawlctl.jobs.fetch_index.FetchIndex = stand_in_fetch.StandInFetch
config = msgspec.convert(msgspec.json.decode(sys.argv[3]), Config, dec_hook=decode_unit)
work = Work(open_store(sys.argv[2]), config, Display())
run_rounds(work, iterations=None, partitions=4)
"""


def config(scratch: Path, runner: str = "inline", **settings: Any) -> Config:
    pace = Pace(initial=YEARS, minimum=YEARS, maximum=YEARS)
    return Config(
        runner=RunnerSettings(name=runner, tmp_dir=str(scratch)),  # type: ignore[arg-type]
        recrawl=RecrawlSettings(pace=pace, jitter=0.0),
        **settings,
    )


@pytest.fixture(autouse=True)
def _size_of_the_web(monkeypatch: pytest.MonkeyPatch, made_up_web: None) -> None:
    monkeypatch.setenv("WEB_PAGES", str(PAGES))


@pytest.fixture
def work(tmp_path: Path, scratch: Path) -> Work:
    return Work(seeded(tmp_path / "crawl"), config(scratch), Display())


def seeded(folder: Path) -> LocalStore:
    store = LocalStore(folder)
    empty = create_crawl(store, PARTITIONS)
    commit(store, empty, files=inject(store, empty, SEEDS, NOW).files, round_number=0)
    return store


def with_(work: Work, **fields: Any) -> Work:
    return Work(**{**vars(work), **fields})


def crawl(work: Work, iterations: int | None = None, **options: Any) -> list[RoundReport]:
    reports: list[RoundReport] = []
    run_rounds(work, iterations=iterations, partitions=PARTITIONS, done=reports.append, **options)
    return reports


def webdb(store: LocalStore) -> dict[str, WebEntry]:
    snapshot = load_current(store)
    return {url: entry for number in range(PARTITIONS) for url, entry in scan(store, snapshot, number)}


def archived(store: LocalStore) -> Counter[str]:
    """How often each page is in the archive of the current snapshot."""
    files = load_current(store).files_of("pages")
    return Counter(url for file in files for url in store.read(file.name).decode().split("\n"))


@pytest.fixture
def whole(tmp_path: Path, scratch: Path) -> LocalStore:
    """The crawl as it comes out of one run that nobody disturbs."""
    store = seeded(tmp_path / "whole")
    crawl(Work(store, config(scratch), Display()))
    return store


def test_rounds_go_on_until_every_page_is_fetched_once(work: Work, scratch: Path) -> None:
    reports = crawl(work)
    store = work.store
    assert isinstance(store, LocalStore)
    found = webdb(store)
    assert len(found) == PAGES + 1
    assert {entry.status.name for entry in found.values()} == {"FETCHED"}
    assert archived(store) == Counter(list(found))
    assert [report.round for report in reports] == list(range(1, len(reports) + 1))
    assert sum(report.fetched for report in reports) == PAGES + 1
    assert sum(report.fresh for report in reports) == PAGES
    assert reports[-1].urls == PAGES + 1
    assert find_host(store, load_current(store), "host0.example") is not None
    assert list(scratch.iterdir()) == []


def test_a_second_run_finds_nothing_due(work: Work) -> None:
    crawl(work)
    before = load_current(work.store)
    assert crawl(work) == []
    assert load_current(work.store) == before


def test_a_run_without_any_url_names_the_commands_that_add_some(tmp_path: Path, scratch: Path) -> None:
    store, said = LocalStore(tmp_path / "empty"), SaidLines()
    create_crawl(store, PARTITIONS)
    assert crawl(Work(store, config(scratch), said)) == []
    (line,) = (line for line in said.lines if line.startswith("the crawl has no URLs yet; "))
    assert "crawlctl run https://" in line


def test_no_more_rounds_are_run_than_asked_for(work: Work) -> None:
    assert [report.round for report in crawl(work, 2)] == [1, 2]
    assert load_current(work.store).round == 2
    assert [report.round for report in crawl(work, 1)] == [3]


def test_all_tasks_fetch_at_once_and_the_result_is_the_same(
    work: Work, whole: LocalStore, scratch: Path
) -> None:
    assert isinstance(work.store, LocalStore)
    crawl(with_(work, config=config(scratch, "forked")))
    assert webdb(work.store) == webdb(whole)


def test_the_budget_of_pages_holds_over_all_partitions(work: Work, scratch: Path) -> None:
    small = with_(work, config=config(scratch, round=RoundSettings(max_pages=6)))
    reports = crawl(small)
    assert all(0 < report.fetched <= 6 for report in reports)
    assert sum(report.fetched for report in reports) == PAGES + 1


def test_a_round_that_moves_nothing_ends_the_run(
    work: Work, job: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawlctl.jobs.fetch_index.FetchIndex", job("stand_in_fetch.Idle"))
    reports = crawl(work)
    assert [(report.round, report.idle) for report in reports] == [(1, True)]


def test_seeds_make_a_crawl_of_an_empty_store_and_are_injected_once(work: Work, tmp_path: Path) -> None:
    fresh = with_(work, store=LocalStore(tmp_path / "new"))
    first = crawl(fresh, 1, seeds=SEEDS)
    assert first[0].fetched == 1
    crawl(fresh, 1, seeds=SEEDS)
    snapshot = load_current(fresh.store)
    # The crawl, the seeds, and of each run a round and a ranking.
    assert (snapshot.partitions, snapshot.round, snapshot.number) == (PARTITIONS, 2, 6)


def test_without_a_crawl_and_seeds_nothing_is_made(work: Work, tmp_path: Path) -> None:
    with pytest.raises(NotACrawl, match="crawlctl run https"):
        crawl(with_(work, store=LocalStore(tmp_path / "new")))
    assert not (tmp_path / "new").exists()


def test_a_store_in_use_is_left_alone(work: Work) -> None:
    before = load_current(work.store)
    with hold_lease(work.store, 60, "gc"), pytest.raises(StoreBusy, match="in use by `crawlctl gc`"):
        crawl(work)
    assert load_current(work.store) == before


def test_a_run_that_lost_its_lease_commits_nothing(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lease, "check", lambda _self: (_ for _ in ()).throw(StoreBusy("lost")))
    before = load_current(work.store)
    with pytest.raises(StoreBusy):
        crawl(work)
    assert load_current(work.store) == before
    assert list(work.store.list(f"rounds/{1:08d}/fetch.json")) == []


class Killed(BaseException):
    """What stands for kill -9 inside one process."""


class Mortal(LocalStore):
    """A store whose user dies at the n-th file it wants to create for the crawl, before or after."""

    def __init__(self, root: Path, lives: int, *, after: bool) -> None:
        super().__init__(root)
        self.lives = lives
        self.after = after

    def create(self, name: str, data: bytes) -> bool:
        if name.startswith("lease/"):
            return super().create(name, data)
        self.lives -= 1
        if self.lives == 0 and not self.after:
            raise Killed
        made = super().create(name, data)
        if self.lives == 0:
            raise Killed
        return made


@pytest.mark.parametrize(
    "after", [pytest.param(False, marks=pytest.mark.integration), True], ids=["before", "after"]
)
def test_a_run_that_dies_at_any_step_is_gone_on_with(
    work: Work, whole: LocalStore, tmp_path: Path, after: bool
) -> None:
    # Three records a round: the two steps and the commit.
    for lives in range(1, 4):
        store = seeded(tmp_path / f"dead-{lives}")
        with pytest.raises(Killed):
            crawl(with_(work, store=Mortal(store.root, lives, after=after)))
        collect(store, keep=1, min_age=0, now=2e9, also_keep=kept(store))
        crawl(with_(work, store=store))
        assert webdb(store) == webdb(whole)
        assert archived(store) == archived(whole)


def kept(store: LocalStore) -> set[str]:
    return open_round_files(store, load_current(store).round + 1)


@pytest.mark.parametrize(
    "lives", [2, *(pytest.param(lives, marks=pytest.mark.integration) for lives in (1, 3))]
)
def test_seeds_injected_into_an_open_round_are_not_lost(work: Work, tmp_path: Path, lives: int) -> None:
    store = seeded(tmp_path / "open")
    with pytest.raises(Killed):
        crawl(with_(work, store=Mortal(store.root, lives, after=True)))
    snapshot = load_current(store)
    injected = inject(store, snapshot, ["https://late.example/15"], NOW)
    commit(store, snapshot, files=injected.files, round_number=snapshot.round)
    crawl(with_(work, store=store))
    found = webdb(store)
    assert found["https://late.example/15"].status.name == "FETCHED"
    assert len(found) == PAGES + 2
    assert archived(store) == Counter(list(found))


def start(store: LocalStore, settings: Config, log: Path, seconds: float = 0.0) -> subprocess.Popen[bytes]:
    encoded = msgspec.json.encode(msgspec.to_builtins(settings, enc_hook=str)).decode()
    environment = {**os.environ, "FETCH_LOG": str(log), "PAGE_SECONDS": str(seconds)}
    command = [sys.executable, "-c", DRIVER, str(JOBS), store.uri, encoded]
    return subprocess.Popen(command, env=environment, start_new_session=True, stderr=subprocess.PIPE)


@pytest.mark.integration
def test_a_crawl_that_is_killed_again_and_again_ends_like_one_that_is_not(
    whole: LocalStore, tmp_path: Path, scratch: Path
) -> None:
    store, settings, log = seeded(tmp_path / "killed"), config(scratch, "forked"), tmp_path / "log"
    chance = random.Random(os.environ.get("KILL_SEED", "7"))
    log.touch()
    killed = 0
    for _ in range(KILLS):
        run = start(store, settings, log, seconds=0.2)
        # Dying while Python is still importing teaches nothing: wait for the lease, then for a moment.
        wait_for_lease(store, run)
        try:
            run.wait(chance.uniform(0.0, 0.7))
        except subprocess.TimeoutExpired:
            os.kill(run.pid, signal.SIGKILL)
        run.communicate()
        killed += run.returncode == -signal.SIGKILL
    assert killed >= FEWEST_KILLS
    last = start(store, settings, log)
    assert (last.communicate()[1], last.returncode) == (b"", 0)
    assert webdb(store) == webdb(whole)
    assert archived(store) == archived(whole)
    assert fetched_after_saving(log.read_text()) == []


def wait_for_lease(store: LocalStore, run: subprocess.Popen[bytes]) -> None:
    while run.poll() is None:
        _, record = latest_record(store)
        if record is not None and record.process.pid == run.pid:
            return
        time.sleep(0.01)


def fetched_after_saving(log: str) -> list[str]:
    saved: set[str] = set()
    again = []
    for line in log.splitlines():
        verb, _, url = line.partition(" ")
        if verb == "saved":
            saved.add(url)
        elif url in saved:
            again.append(url)
    return again


@pytest.mark.parametrize(
    ("number", "exit_code"),
    [
        (signal.SIGINT, -signal.SIGINT),
        pytest.param(signal.SIGTERM, 143, marks=pytest.mark.integration),
    ],
)
def test_a_signal_frees_the_store_at_once_and_the_next_run_goes_on(
    work: Work, whole: LocalStore, tmp_path: Path, scratch: Path, number: signal.Signals, exit_code: int
) -> None:
    store, settings, log = seeded(tmp_path / "stopped"), config(scratch, "forked"), tmp_path / "log"
    log.touch()
    run = start(store, settings, log, seconds=0.2)
    wait_for_lease(store, run)
    while run.poll() is None and "saved" not in log.read_text():
        time.sleep(0.01)
    os.kill(run.pid, number)
    run.communicate()
    assert run.returncode == exit_code
    assert list(scratch.iterdir()) == []
    crawl(with_(work, store=store))
    assert webdb(store) == webdb(whole)
