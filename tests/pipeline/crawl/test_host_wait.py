from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.crawl.host_wait import HostWait
from crawlctl.pipeline.crawl.reports.left_over import LeftHosts
from crawlctl.pipeline.crawl.reports.round_report import RoundReport
from crawlctl.pipeline.politeness.host_queue import ROUND_ENDED
from crawlctl.pipeline.politeness.host_state import HostState
from crawlctl.pipeline.state.kinds import HOSTS
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.host_table import read_summaries
from crawlctl.pipeline.webdb.records import encode
from crawlctl.pipeline.webdb.row_files import write_rows

if TYPE_CHECKING:
    from pathlib import Path

IDLE = RoundReport(3, urls=9, fetched=0, fresh=0, seconds=1.0, idle=True, left=7)
FAILED = HostState(not_before=1_090.0, reason="status 503", left=7, left_reason="its turn did not come")


class Rig:
    """A wait of at most 100 s, from second 1000 on, whose clock moves only while it sleeps."""

    def __init__(self, folder: Path) -> None:
        self.now = 1_000.0
        self.said: list[str] = []
        self.store = LocalStore(folder)
        self.left = LeftHosts()
        self.hosts = HostWait(self.left, 100.0, self.said.append, lambda: self.now, self.sleep)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def wait(self, *, report: RoundReport = IDLE, **states: HostState) -> bool:
        rows = {host.encode(): encode(state) for host, state in states.items()}
        table = write_rows(self.store, HOSTS, rows, partition=0, round_number=1)
        self.left.urls = 7
        for host, row in read_summaries(self.store, [table]):
            self.left.see(host, row)
        return self.hosts.wait(report)


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def test_a_run_waits_for_the_host_that_may_be_asked_first_and_says_until_when(rig: Rig) -> None:
    assert rig.wait(later=replace(FAILED, not_before=5_000.0), first=FAILED, well=HostState(not_before=1_001))
    assert rig.now == 1_090
    assert rig.said == ["waiting until 1970-01-01 00:18:10 UTC for first, which failed (status 503)"]


def test_a_host_with_a_long_pause_is_waited_for_too(rig: Rig) -> None:
    assert rig.wait(slow=HostState(not_before=1_050.0, left=2, left_reason=ROUND_ENDED))
    assert rig.said[0].endswith(" for slow, which is asked slowly")


def test_waits_in_a_row_take_no_longer_than_a_round(rig: Rig) -> None:
    assert rig.wait(first=FAILED)
    assert not rig.wait(first=replace(FAILED, not_before=1_110.0))
    assert rig.now == 1_090
    assert rig.said[1].startswith(
        "round 3 asked no host: the first that may be asked again, at 1970-01-01 00:18:30"
    )
    assert rig.said[1].endswith("(round.max_time): type `crawlctl run` then")
    rig.hosts.round_done()
    assert rig.wait(first=replace(FAILED, not_before=1_110.0))


def test_without_a_host_that_becomes_ready_a_run_ends(rig: Rig) -> None:
    assert not rig.wait(first=replace(FAILED, not_before=0.0))
    assert not rig.wait(first=FAILED, report=RoundReport(1, 9, 0, 0, 1.0, idle=True, is_offline=True))
    assert [line.partition(";")[0] for line in rig.said] == [
        "round 3 asked no host",
        "round 1 reached no host",
    ]
