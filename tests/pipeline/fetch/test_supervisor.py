"""Whatever happens to the process that fetches, the task ends in time and with the pages of the others."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.fetch import supervisor
from crawlctl.pipeline.fetch.heartbeat import Doing, Heartbeat, Sign
from crawlctl.pipeline.fetch.loop import round_tail
from crawlctl.pipeline.fetch.loop.fetch_loop import FetchLoop
from crawlctl.pipeline.fetch.supervisor import Silence, Supervised, fetch_supervised, with_less
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.warc.warc_writer import WarcWriter
from crawlctl.pipeline.http.watchdog import Watchdog
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.robots.robots import robots_for_status
from crawlctl.pipeline.state import journal
from crawlctl.pipeline.webdb.records import Kind
from crawlctl.tests.hostile.tls_floods import flooding
from crawlctl.tests.pipeline.fetch.crawl import Crawl, Fetched, paths, settings
from crawlctl.tests.pipeline.fetch.site import serving
from crawlctl.tests.processes import is_alive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from crawlctl.pipeline.progress.task_file import Progress
    from crawlctl.pipeline.robots.robots import Robots
    from crawlctl.tests.pipeline.fetch.site import Site

PAGES = 12


@dataclass
class Trouble:
    """Befalls the fetch loop of a child once it has saved runs, as often as told."""

    folder: Path
    happen: Callable[[FetchLoop], None]
    times: int = 1
    runs: int = 1

    def strike(self, loop: FetchLoop) -> None:
        notes = self.folder / "deaths"
        deaths = notes.read_text().split() if notes.exists() else []
        if len(deaths) < self.times and len(loop._tools.run.saved) >= self.runs:
            notes.write_text(" ".join([*deaths, str(loop._connections)]))
            self.happen(loop)

    def connections(self) -> list[int]:
        """Return how many connections those had that met their end."""
        return [int(number) for number in (self.folder / "deaths").read_text().split()]


@pytest.fixture
def sites() -> Iterator[list[Site]]:
    with serving(2) as both:
        for site in both:
            for number in range(PAGES):
                site.page(f"/{number}", f"/from{number}")
        yield both


@pytest.fixture
def crawl(sites: list[Site], tmp_path: Path) -> Crawl:
    """Two hosts with twelve pages each; a run is saved every three pages."""
    config = settings(round={"flush_pages": 3}, fetch={"stall_time": "1s", "connections": 8})
    crawl = Crawl(tmp_path / "crawl", config)
    crawl.inject(*(site.url(f"/{number}") for site in sites for number in range(PAGES)))
    return crawl


@pytest.fixture
def trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Trouble]:
    """A function that prepares a trouble for the children to come."""

    def prepare(happen: Callable[[FetchLoop], None], **options: int) -> Trouble:
        trouble, hand_out = Trouble(tmp_path, happen, **options), FetchLoop._hand_out

        def troubled(loop: FetchLoop) -> None:
            trouble.strike(loop)
            hand_out(loop)

        monkeypatch.setattr(FetchLoop, "_hand_out", troubled)
        return trouble

    return prepare


def run(crawl: Crawl, **changes: Any) -> tuple[Supervised, Fetched]:
    supervised = fetch_supervised(crawl.order(**changes))
    return supervised, Fetched(crawl.store, supervised.files)


def all_paths(prefix: str = "/") -> set[str]:
    return {f"{prefix}{number}" for number in range(PAGES)}


def assert_whole(fetched: Fetched, sites: list[Site]) -> None:
    """All that an undisturbed task brings is there, once."""
    urls = {site.url(path) for site in sites for path in all_paths()}
    kinds = {url: outcome.kind for url, outcome in fetched.outcomes().items()}
    assert kinds == dict.fromkeys(urls, Kind.FETCHED)
    assert fetched.fresh().keys() == {site.url(path) for site in sites for path in all_paths("/from")}
    assert all(fetched.indexed(site.host) >= all_paths() for site in sites)
    assert fetched.counters()["fetched"] == len(urls)


def blocked_for_ever(loop: FetchLoop) -> None:
    time.sleep(600)


def blocked_without_python(loop: FetchLoop) -> None:
    ctypes.PyDLL(None).sleep(600)  # keeps the lock of the interpreter


def test_an_undisturbed_child_brings_all(crawl: Crawl, sites: list[Site]) -> None:
    supervised, fetched = run(crawl)
    assert (supervised.restarts, supervised.gave_up) == (0, "")
    assert_whole(fetched, sites)


@pytest.mark.slow
@pytest.mark.parametrize("block", [blocked_for_ever, blocked_without_python])
def test_a_host_that_stalls_the_child_is_left_out_and_the_others_are_fetched(
    crawl: Crawl, sites: list[Site], trouble: Callable[..., Trouble], block: Callable[[FetchLoop], None]
) -> None:
    good, bad = sites

    def stall(loop: FetchLoop) -> None:
        loop._tools.heartbeat.working_on(bad.host)
        block(loop)

    trouble(stall)
    supervised, fetched = run(crawl)
    assert (supervised.restarts, supervised.gave_up) == (1, "")
    outcomes = fetched.outcomes()
    assert {outcomes[good.url(path)].kind for path in all_paths()} == {Kind.FETCHED}
    failed = [outcome for outcome in outcomes.values() if outcome.kind is Kind.FAILED]
    assert failed and all(f"{bad.host} stalled the fetcher" in outcome.reason for outcome in failed)
    assert len(outcomes) == 2 * PAGES
    assert len(good.pages_asked()) <= PAGES + 8, "what was saved is not asked again"


@pytest.mark.slow
def test_a_server_that_keeps_openssl_busy_is_left_out_though_the_engine_has_no_watchdog(
    crawl: Crawl, sites: list[Site], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Watchdog, "start", lambda _: None)
    with flooding("hello_requests_first", tmp_path / "none.pem", seconds=20) as port:
        url = f"https://127.0.0.1:{port}/"
        crawl.inject(url)
        supervised, fetched = run(crawl)
    assert (supervised.restarts, supervised.gave_up) == (1, "")
    outcomes = fetched.outcomes()
    assert f"127.0.0.1:{port} stalled the fetcher" in outcomes[url].reason
    assert all(outcomes[site.url(path)].kind is Kind.FETCHED for site in sites for path in all_paths())


@pytest.mark.slow
def test_a_host_whose_robots_txt_keeps_our_own_code_busy_is_left_out(
    crawl: Crawl, sites: list[Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = sites
    bad.text("/robots.txt", "trap")

    def read_slowly(status: int | None, body: bytes, agent: str) -> Robots:
        time.sleep(600 if body == b"trap" else 0)
        return robots_for_status(status, body, agent)

    monkeypatch.setattr("crawlctl.pipeline.fetch.loop.answer_handler.robots_for_status", read_slowly)
    supervised, fetched = run(crawl)
    assert (supervised.restarts, supervised.gave_up) == (1, "")
    outcomes = fetched.outcomes()
    assert {outcomes[good.url(path)].kind for path in all_paths()} == {Kind.FETCHED}
    assert all(f"{bad.host} stalled the fetcher" in outcomes[bad.url(path)].reason for path in all_paths())


@pytest.mark.slow
def test_a_stall_that_names_no_host_leaves_none_out(
    crawl: Crawl, sites: list[Site], trouble: Callable[..., Trouble]
) -> None:
    trouble(blocked_for_ever)
    supervised, fetched = run(crawl)
    assert supervised.restarts == 1
    assert_whole(fetched, sites)


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
def test_a_killed_child_is_replaced_by_one_that_takes_half(
    crawl: Crawl, sites: list[Site], trouble: Callable[..., Trouble], times: int
) -> None:
    killed = trouble(lambda _: os.kill(os.getpid(), signal.SIGKILL), times=times)
    supervised, fetched = run(crawl)
    assert (supervised.restarts, supervised.gave_up) == (times, "")
    assert killed.connections() == [8, 4][:times]
    assert_whole(fetched, sites)


def test_a_host_over_which_the_child_crashes_is_left_out(
    crawl: Crawl, sites: list[Site], trouble: Callable[..., Trouble]
) -> None:
    good, bad = sites

    def crash(loop: FetchLoop) -> None:
        faulthandler.disable()
        loop._tools.heartbeat.working_on(bad.host)
        os.kill(os.getpid(), signal.SIGSEGV)

    trouble(crash)
    _, fetched = run(crawl)
    outcomes = fetched.outcomes()
    assert {outcomes[good.url(path)].kind for path in all_paths()} == {Kind.FETCHED}
    assert any("crashed with SIGSEGV while" in outcome.reason for outcome in outcomes.values())


def test_a_child_that_dies_each_time_leaves_what_it_has_saved_and_no_error(
    crawl: Crawl, trouble: Callable[..., Trouble], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "RESTARTS", 2)
    trouble(lambda _: os.kill(os.getpid(), signal.SIGKILL), times=99)
    supervised, fetched = run(crawl)
    assert supervised.restarts == 2 and "killed by SIGKILL" in supervised.gave_up
    assert len(fetched.outcomes()) >= 3 * 3


def test_other_tasks_do_not_wait_for_one_that_was_given_up_nor_count_on_one_that_is_replaced(
    crawl: Crawl, trouble: Callable[..., Trouble], monkeypatch: pytest.MonkeyPatch
) -> None:
    order = crawl.order(tail_wait=0.0, tasks=2)

    def say_and_die(loop: FetchLoop) -> None:
        assert journal.tail_reports(crawl.store, order.round, order.deadline) == {}
        loop._tools.tail.ended(has_work=True)
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(supervisor, "RESTARTS", 1)
    trouble(say_and_die, times=99)
    assert "SIGKILL" in fetch_supervised(order).gave_up
    assert journal.tail_reports(crawl.store, order.round, order.deadline) == {0: True}

    monkeypatch.setattr(supervisor, "RESTARTS", 0)
    order = crawl.order(tail_wait=0.0, tasks=2)
    trouble(lambda _: os.kill(os.getpid(), signal.SIGKILL), times=99, runs=0)
    assert "SIGKILL" in fetch_supervised(order).gave_up
    assert journal.tail_reports(crawl.store, order.round, order.deadline) == {0: False}


@pytest.mark.slow
def test_a_child_that_does_not_end_at_its_deadline_is_ended(
    crawl: Crawl, trouble: Callable[..., Trouble], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "GRACE_SECONDS", 0.5)

    def go_on(loop: FetchLoop) -> None:
        while True:
            loop._tools.heartbeat.beat()
            time.sleep(0.05)

    trouble(go_on)
    began = time.monotonic()
    supervised, fetched = run(crawl, deadline=time.time() + 2)
    assert "past its deadline" in supervised.gave_up and supervised.restarts == 0
    assert len(fetched.outcomes()) >= 3
    assert time.monotonic() - began < 30


def test_what_a_child_raises_is_raised_with_its_traceback_and_not_tried_again(
    crawl: Crawl, trouble: Callable[..., Trouble]
) -> None:
    def refuse(loop: FetchLoop) -> None:
        raise StoreUnavailable("the disk is full; make room")

    raising = trouble(refuse, times=99)
    with pytest.raises(StoreUnavailable, match="make room") as caught:
        run(crawl)
    assert "in refuse" in str(caught.value.__cause__)
    assert len(raising.connections()) == 1


@pytest.mark.slow
def test_no_beat_is_expected_while_the_task_reads_or_saves(
    crawl: Crawl, sites: list[Site], trouble: Callable[..., Trouble]
) -> None:
    def save_slowly(loop: FetchLoop) -> None:
        with loop._tools.heartbeat.own_work():
            time.sleep(2.5)

    trouble(save_slowly)
    supervised, fetched = run(crawl)
    assert supervised.restarts == 0
    assert_whole(fetched, sites)


@pytest.mark.slow
@pytest.mark.parametrize(
    "slow",
    [(WarcWriter, "capture"), (journal, "put_tail_report"), (MapFileReader, "get")],
    ids=["archive", "tail report", "part"],
)
def test_a_store_that_takes_its_time_stalls_nobody(
    crawl: Crawl, sites: list[Site], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, slow: tuple[Any, str]
) -> None:
    where, name = slow
    done, note = getattr(where, name), tmp_path / "slept"

    def sleep_once(*args: Any, **options: Any) -> Any:
        if not note.exists():
            note.touch()
            time.sleep(2.5)
        return done(*args, **options)

    monkeypatch.setattr(where, name, sleep_once)
    if where is journal:
        monkeypatch.setattr(round_tail, name, sleep_once)
    if where is MapFileReader:
        lastmod = "<lastmod>2024-01-01</lastmod>"
        urls = f"<urlset><url><loc>{sites[0].url('/0')}</loc>{lastmod}</url></urlset>"
        sites[0].text("/robots.txt", f"Sitemap: {sites[0].url('/sitemap.xml')}")
        sites[0].text("/sitemap.xml", urls)
    supervised, fetched = run(crawl, tail_wait=0.0, tasks=2)
    assert note.exists()
    assert supervised.restarts == 0
    assert fetched.counters()["fetched"] == 2 * PAGES


def test_without_a_stall_time_the_task_fetches_in_its_own_process(
    sites: list[Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "Child", None)
    crawl = Crawl(tmp_path / "c", settings(fetch={"stall_time": 0}))
    crawl.inject(sites[0].url("/0"))
    _, fetched = run(crawl)
    assert paths(fetched.outcomes(), sites[0].host) == {"/0"}


def test_what_the_child_tells_of_its_progress_reaches_whoever_listens(crawl: Crawl, tmp_path: Path) -> None:
    told = tmp_path / "told"

    def tell(progress: Progress) -> None:
        told.write_text(str(progress.done))

    fetch_supervised(crawl.order(), progress=tell)
    assert told.read_text() == str(2 * PAGES)


def test_time_in_which_the_watcher_did_not_run_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    heartbeat = Heartbeat()
    silence = Silence(heartbeat)
    now = 3600.0
    assert silence.look() <= 1.0
    heartbeat.beat()
    now += 0.2
    assert silence.look() == 0.0
    assert silence.sign == Sign(1, Doing.FETCHING, "")


def test_less_is_half_of_memory_and_connections_down_to_a_bound(crawl: Crawl) -> None:
    order = crawl.order()
    for _ in range(20):
        order = with_less(order)
    config = order.config
    assert (config.round.task_memory, config.fetch.connections) == (192 << 20, 1)
    once = with_less(crawl.order()).config
    assert (once.round.task_memory, once.fetch.connections) == (256 << 20, 4)


KILLED = """
import ctypes, os, sys
from pathlib import Path
from crawlctl.pipeline.fetch.loop.fetch_loop import FetchLoop
from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.orders import decode_order
from crawlctl.pipeline.fetch.supervisor import fetch_supervised

def block(loop):
    helper = loop._tools.parse_queue._guard.lines[0].helper.pid
    Path(sys.argv[1]).write_text(f"{os.getpid()} {helper} ")
    ctypes.PyDLL(None).sleep(600)

FetchLoop._hand_out = block
fetch_supervised(decode_order(sys.stdin.read(), FetchOrder))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child that does not run Python")
def test_a_task_that_is_killed_leaves_no_process_behind(crawl: Crawl, tmp_path: Path) -> None:
    note = tmp_path / "pids"
    task = subprocess.Popen([sys.executable, "-c", KILLED, str(note)], stdin=subprocess.PIPE)
    assert task.stdin is not None
    task.stdin.write(encode_order(crawl.order()))
    task.stdin.close()
    until(lambda: note.exists() and note.read_text().endswith(" "))
    pids = [int(pid) for pid in note.read_text().split()]
    task.kill()
    task.wait()
    try:
        until(lambda: not any(map(is_alive, pids)))
    finally:
        for pid in filter(is_alive, pids):
            os.kill(pid, signal.SIGKILL)


def until(condition: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
