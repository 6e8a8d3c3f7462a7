"""A task that is killed or stopped loses nothing it has saved, and saved pages are not fetched again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.fetch.save.adoption import adopt_runs
from crawlctl.pipeline.fetch.task import fetch_partition
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.urls.hosts import url_of_key
from crawlctl.pipeline.webdb.records import Kind, Status
from crawlctl.tests.pipeline.fetch.crawl import Crawl, Fetched, paths, settings
from crawlctl.tests.pipeline.fetch.site import FILLER

if TYPE_CHECKING:
    from crawlctl.pipeline.fetch.order import FetchOrder
    from crawlctl.pipeline.progress.task_file import Progress
    from crawlctl.tests.pipeline.fetch.site import Site

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("run_task.py")
PAGES = 30


@pytest.fixture
def crawl(site: Site, tmp_path: Path) -> Crawl:
    """A crawl of 30 pages that saves a run every 4 of them."""
    crawl = Crawl(tmp_path / "crawl", settings(round={"flush_pages": 4}))
    for number in range(PAGES):
        site.page(f"/{number}", f"/from{number}")
    crawl.inject(*(site.url(f"/{number}") for number in range(PAGES)))
    return crawl


def start(order: FetchOrder) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, str(SCRIPT)], stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(encode_order(order))
    process.stdin.close()
    return process


def until_asked(site: Site, pages: int) -> None:
    deadline = time.monotonic() + 60
    while len(site.pages_asked()) < pages:
        assert time.monotonic() < deadline, "the task does not fetch"
        time.sleep(0.01)


def saved_urls(crawl: Crawl, order: FetchOrder) -> set[str]:
    return {url_of_key(key) for key in adopt_runs(crawl.store, order.round, 0).done}


@pytest.mark.parametrize("pages", [3, 11, 22])
def test_after_a_kill_saved_pages_are_not_fetched_again(site: Site, crawl: Crawl, pages: int) -> None:
    order = crawl.order()
    site.seconds = 0.03
    process = start(order)
    until_asked(site, pages)
    process.kill()
    process.wait()
    time.sleep(0.1)
    saved = paths(saved_urls(crawl, order), site.host)
    assert pages < 5 or saved
    site.seconds = 0.0
    before = Counter(site.pages_asked())
    reports: list[Progress] = []
    fetched = Fetched(crawl.store, fetch_partition(order, crawl.store, progress=reports.append))
    after = Counter(site.pages_asked()) - before
    assert not saved & set(after)
    assert (reports[0].earlier, reports[-1].done) == (len(saved), PAGES)
    assert {report.total for report in reports} == {PAGES}
    assert set(after) == {f"/{number}" for number in range(PAGES)} - saved
    assert fetched.kinds(site.host) == {f"/{number}": Kind.FETCHED for number in range(PAGES)}
    assert paths(fetched.fresh(), site.host) == {f"/from{number}" for number in range(PAGES)}
    assert len(runs_of(fetched.files)) == len(fetched.of("outcomes"))


def test_a_task_with_nothing_left_reports_what_was_done_before(site: Site, crawl: Crawl) -> None:
    crawl.fetch()
    reports: list[Progress] = []
    fetch_partition(crawl.order(), crawl.store, progress=reports.append)
    assert [(one.done, one.earlier, one.total) for one in reports] == [(PAGES, PAGES, PAGES)]


def test_ctrl_c_saves_what_there_is_and_ends_the_process(site: Site, crawl: Crawl) -> None:
    order = crawl.order()
    site.seconds = 0.05
    process = start(order)
    until_asked(site, 6)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == -signal.SIGINT
    saved = len(saved_urls(crawl, order))
    # All that was answered but perhaps the one under way.
    assert len(site.pages_asked()) - 1 <= saved < PAGES


def test_sigterm_does_the_same(site: Site, crawl: Crawl) -> None:
    order = crawl.order()
    site.seconds = 0.05
    process = start(order)
    until_asked(site, 6)
    process.terminate()
    assert process.wait(timeout=30) == -signal.SIGTERM
    assert len(saved_urls(crawl, order)) >= 5


def test_adopted_runs_count_against_the_budgets(site: Site, crawl: Crawl) -> None:
    crawl.fetch(max_pages=10)
    assert len(site.pages_asked()) == 10
    crawl.fetch(max_pages=12)
    assert len(site.pages_asked()) == 12
    crawl.fetch(max_pages=12)
    assert len(site.pages_asked()) == 12


def test_adopted_runs_count_against_the_share_of_a_host(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(politeness={"pages_per_host": 3}))
    for number in range(5):
        site.page(f"/{number}")
    crawl.inject(*(site.url(f"/{number}") for number in range(5)))
    crawl.fetch(max_pages=2)
    fetched = crawl.fetch()
    assert len(site.pages_asked()) == 3 and len(fetched.outcomes()) == 3


@pytest.mark.parametrize("first", ["/1", "/twin"])
def test_of_equal_pages_the_same_one_leads_whichever_was_saved_before_a_kill(
    site: Site, tmp_path: Path, first: str
) -> None:
    crawl = Crawl(tmp_path / "c")
    for path in ("/1", "/twin"):
        site.page(path, title="t", text=FILLER)
    crawl.inject(site.url("/1"), site.url("/twin"))
    entry = crawl.entry(site.url(first))
    assert entry is not None
    crawl.make_due((site.url(first), replace(entry, score=9.0)))
    assert set(crawl.fetch(max_pages=1).kinds(site.host)) == {first}
    crawl.round()
    leader, led = crawl.entry(site.url("/1")), crawl.entry(site.url("/twin"))
    assert leader is not None and leader.status is Status.FETCHED
    assert led is not None and (led.status, led.canonical) == (Status.DUPLICATE, site.url("/1"))


def test_a_sitemap_that_was_not_read_before_a_kill_is_read_after_it(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(round={"flush_pages": 1}))
    site.text("/robots.txt", f"Sitemap: {site.url('/sitemap.xml')}")
    site.text("/sitemap.xml", f"<urlset><url><loc>{site.url('/listed')}</loc></url></urlset>")
    site.resources["/sitemap.xml"].seconds = 5
    site.page("/")
    site.page("/listed")
    crawl.inject(site.url())
    order = crawl.order()
    files = fetch_partition(order, crawl.store, should_stop=lambda: bool(saved_urls(crawl, order)))
    assert set(Fetched(crawl.store, files).outcomes()) == {site.url()}
    site.resources["/sitemap.xml"].seconds = 0
    site.asked.clear()
    assert site.url("/listed") in crawl.round().fresh()
    assert site.asked == ["/sitemap.xml"]
    site.asked.clear()
    crawl.round()
    assert site.asked == ["/listed"], "a later round need not read it again"


def test_a_run_whose_record_cannot_be_written_is_fetched_again(
    site: Site, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> str:
        raise StoreUnavailable("the disk is full; make room")

    with monkeypatch.context() as patch:
        patch.setattr("crawlctl.pipeline.fetch.save.run_buffer.put_run", refuse)
        lost = r"^[4-9] fetched pages of partition 0 could not be saved and are due again: the disk is full"
        with pytest.raises(StoreUnavailable, match=lost):
            crawl.fetch()
    assert not saved_urls(crawl, crawl.order())
    assert len(crawl.fetch().outcomes()) == PAGES


def test_the_host_table_of_the_last_run_counts(site: Site, crawl: Crawl) -> None:
    fetched = crawl.fetch()
    assert len(fetched.of("hosts")) > 1
    assert fetched.hosts()[site.host].pages == PAGES
