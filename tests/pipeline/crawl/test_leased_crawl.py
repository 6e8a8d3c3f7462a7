from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.config.settings import Config, RunnerSettings
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.crawl.seeding import FEWEST_PARTITIONS, partitions_of, seed_crawl
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.errors import ConfigError, NotACrawl
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.state.leases.lease_records import latest_record
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(LocalStore(tmp_path / "crawl"), Config(), Display())


def test_a_store_without_a_crawl_stays_empty(work: Work) -> None:
    with pytest.raises(NotACrawl), leased_crawl(work, "merge"):
        pass
    assert list(work.store.list("")) == []


def test_a_conf_file_that_is_missing_is_found_before_anything_is_written(work: Work) -> None:
    config = Config(runner=RunnerSettings(conf_path="none.conf"))
    broken = Work(work.store, config, work.display)
    with (
        pytest.raises(ConfigError, match=r"correct runner\.conf_path"),
        leased_crawl(broken, "run", partitions=2),
    ):
        pass
    assert list(work.store.list("")) == []
    with leased_crawl(work, "run", partitions=2):
        pass
    assert seed_crawl(broken, ["https://a.example/"]).new == 1, "a command without jobs needs no runner"


def test_the_lease_is_held_and_given_back_and_commits_move_the_snapshot_on(work: Work) -> None:
    with leased_crawl(work, "run", partitions=3) as crawl:
        _, record = latest_record(work.store)
        assert record is not None and record.command == "run" and not record.released
        assert (crawl.snapshot.partitions, crawl.next_round) == (3, 1)
        crawl.commit((), round_number=1)
        assert crawl.snapshot == load_current(work.store)
        assert (crawl.snapshot.round, crawl.next_round) == (1, 2)
        crawl.commit(())
        assert crawl.snapshot.round == 1
    _, record = latest_record(work.store)
    assert record is not None and record.released


def test_a_step_that_is_done_is_not_run_again(work: Work) -> None:
    runs: list[str] = []

    def run() -> tuple[FileEntry, ...]:
        runs.append("run")
        return ()

    for _ in range(2):
        with leased_crawl(work, "run", partitions=1) as crawl:
            assert crawl.kept_step("fetch", run) == ()
    assert runs == ["run"]


def test_a_new_crawl_has_the_partitions_of_the_settings_or_enough_for_the_cores() -> None:
    assert partitions_of(Config(partitions=7)) == 7
    assert partitions_of(Config()) >= FEWEST_PARTITIONS
