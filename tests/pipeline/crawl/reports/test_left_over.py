"""A run that leaves URLs of hosts says so, of which, why and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace

from crawlctl.pipeline.crawl.reports.left_over import SHOWN, LeftHosts
from crawlctl.pipeline.crawl.reports.run_report import RunReport, left_at_the_end
from crawlctl.pipeline.crawl.reports.run_summary import summary_lines
from crawlctl.pipeline.crawl.rounds import run_rounds
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.politeness.host_queue import ROUND_ENDED
from crawlctl.pipeline.politeness.host_state import HostState, SchemeState
from crawlctl.pipeline.state.kinds import HOSTS, OUTCOMES
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.host_table import read_summaries
from crawlctl.pipeline.webdb.records import encode
from crawlctl.pipeline.webdb.row_files import write_rows
from crawlctl.tests.pipeline.crawl.said_lines import SaidLines
from crawlctl.tests.pipeline.fetch.crawl import settings
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry

DOWN = HostState(not_before=1_000.0, left=7, left_reason="the host failed 5 times in a row")


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def hosts_file(store: LocalStore, **states: HostState) -> FileEntry:
    rows = {host.encode(): encode(state) for host, state in states.items()}
    return write_rows(store, HOSTS, rows, partition=0, round_number=1)


def take(left: LeftHosts, store: LocalStore, hosts: FileEntry, urls: int) -> None:
    """Let a round with these hosts leave so many URLs."""
    left.urls = urls
    for host, row in read_summaries(store, [hosts]):
        left.see(host, row)


def test_a_host_is_named_with_the_reason_and_the_time_it_may_be_asked_again(store: LocalStore) -> None:
    left = LeftHosts()
    well = HostState(schemes={"http": SchemeState(pages=3)})
    take(left, store, hosts_file(store, down=DOWN, well=well), 7)
    (line,) = left.lines(500.0)
    assert line == (
        "down: 7 URLs were not asked for: the host failed 5 times in a row; "
        "the host is left alone until 1970-01-01 00:16:40 UTC"
    )
    (later,) = left.lines(1_500.0)
    assert "left alone" not in later


def test_one_url_is_no_urls(store: LocalStore) -> None:
    left = LeftHosts()
    take(left, store, hosts_file(store, down=msgspec.structs.replace(DOWN, left=1)), 1)
    assert next(left.lines(0.0)).startswith("down: 1 URL was not asked for: ")


def test_what_a_stopped_attempt_has_left_does_not_count(store: LocalStore) -> None:
    first, second, other = (
        replace(write_rows(store, OUTCOMES, {}, partition=number, round_number=1), counters=counters)
        for number, counters in ((0, {"left": 80}), (0, {"left": 3}), (1, {"left": 4}))
    )
    assert left_at_the_end([first, second, other]) == 7
    assert left_at_the_end([first, replace(second, counters={})]) == 0


def test_the_last_word_of_a_host_counts(store: LocalStore) -> None:
    left = LeftHosts()
    take(left, store, hosts_file(store, a=DOWN, b=DOWN), 14)
    take(left, store, hosts_file(store, a=HostState()), 0)
    assert [line.partition(":")[0] for line in left.lines(0.0)] == ["b"]


def test_many_hosts_are_summed_up(store: LocalStore) -> None:
    states = {f"h{n:02}": msgspec.structs.replace(DOWN, left=n + 1) for n in range(SHOWN + 3)}
    left = LeftHosts()
    take(left, store, hosts_file(store, **states), 200)
    *lines, others, unnamed = left.lines(0.0)
    assert len(lines) == SHOWN and lines[0].startswith(f"h{SHOWN + 2}: {SHOWN + 3} URLs")
    assert others.startswith("and 6 URLs of 3 more hosts")
    assert unnamed.startswith("109 URLs are due whose turn did not come")


def test_urls_whose_turn_did_not_come_are_counted_without_their_hosts(store: LocalStore) -> None:
    left = LeftHosts()
    waiting = HostState(left=5, left_reason=ROUND_ENDED)
    take(left, store, hosts_file(store, slow=waiting), 8)
    assert list(left.lines(0.0)) == [
        "8 URLs are due whose turn did not come: `crawlctl run` continues with them"
    ]


def test_control_characters_of_strangers_are_not_printed(store: LocalStore) -> None:
    left = LeftHosts()
    take(left, store, hosts_file(store, a=msgspec.structs.replace(DOWN, left_reason="x\x9b31m\x1b")), 7)
    (line,) = left.lines(0.0)
    assert line.isprintable()


def crawled(
    folder: Path, scratch: Path, *seeds: str, iterations: int = 5
) -> tuple[RunReport, list[str], SaidLines]:
    config = settings(
        politeness={"backoff": "1s", "patience": "0s", "robots_tries": 3, "max_failures": 2},
        runner={"name": "inline", "tmp_dir": str(scratch)},
        fetch={"contact": "a@example.org", "allowed_networks": ["127.0.0.0/8"], "connect_timeout": "1s"},
    )
    told, report = SaidLines(), RunReport()
    work = Work(LocalStore(folder), config, told)
    run_rounds(work, iterations=iterations, partitions=1, seeds=seeds, report=report)
    return report, list(summary_lines(report, report.close(work.store), 200)), told


@pytest.mark.slow
def test_two_failing_pages_do_not_end_the_crawl_of_a_site(tmp_path: Path, scratch: Path) -> None:
    with serving(1) as (site,):
        site.page("/", *(f"/p{number}" for number in range(9)))
        for number in range(9):
            site.page(f"/p{number}")
        site.text("/p7", "", 500)
        site.text("/p6", "", 500)
        report, lines, told = crawled(tmp_path / "c", scratch, site.url())
    assert sorted(site.pages_asked()) == sorted(["/", *(f"/p{number}" for number in range(9))])
    assert [one.left for one in report.rounds] == [0, 0]
    assert any(line.startswith("nothing is due") for line in told.lines)
    assert not any("not asked for" in line for line in lines)
    assert "failed         2  2 with status 500; `crawlctl errors` lists them" in lines


@pytest.mark.slow
def test_a_run_says_which_hosts_it_gave_up(tmp_path: Path, scratch: Path) -> None:
    with serving(1) as (gone,):
        dead = gone.host
    with serving(1) as (site,):
        site.page("/")
        report, lines, _ = crawled(tmp_path / "c", scratch, site.url(), f"http://{dead}/", f"http://{dead}/x")
    assert report.rounds[0].left == 2
    (line,) = (line for line in lines if line.startswith(f"{dead}: 2 URLs were not asked for: "))
    assert "at last with refused: " in line
