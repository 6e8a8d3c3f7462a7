"""Whole tasks against real servers on loopback."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.fetch.task import fetch_partition
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.processes.cores import usable_cores
from crawlctl.pipeline.processes.shared_slots import SharedSlots
from crawlctl.pipeline.progress.task_file import Progress
from crawlctl.pipeline.robots.robots import Robots
from crawlctl.pipeline.webdb.records import Kind, Status
from crawlctl.tests.pipeline.fetch.crawl import Crawl, Fetched, paths, settings
from crawlctl.tests.pipeline.fetch.site import FILLER, Resource, serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawlctl.pipeline.robots.robots import Verdict
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import WebEntry
    from crawlctl.tests.pipeline.fetch.site import Site


def test_a_seed_gives_an_outcome_a_document_an_archive_and_its_links(site: Site, crawl: Crawl) -> None:
    site.page("/", "/a", "/b?x=1", title="Home", ETag='"v1"')
    crawl.inject(site.url())
    fetched = crawl.fetch()
    outcome = fetched.outcomes()[site.url()]
    assert (outcome.kind, outcome.code, outcome.etag) == (Kind.FETCHED, 200, '"v1"')
    assert len(outcome.signature) == 16
    assert paths(fetched.fresh(), site.host) == {"/a", "/b?x=1"}
    found = fetched.fresh()[site.url("/a")]
    assert (found.depth, found.anchors, found.source) == (1, ("to /a",), site.url())
    assert found.score == pytest.approx(0.85 / 2)
    assert {entry.kind for entry in fetched.files} >= {"outcomes", "fresh", "pages", "docs", "links", "hosts"}
    assert site.asked == ["/robots.txt", "/"]


def test_a_small_site_is_crawled_round_by_round(site: Site, crawl: Crawl) -> None:
    site.page("/", "/one", "/two")
    site.page("/one", "/three", "/")
    site.page("/two", "/one")
    site.page("/three")
    crawl.inject(site.url())
    kinds = [crawl.round().kinds(site.host) for _ in range(4)]
    assert kinds == [
        {"/": Kind.FETCHED},
        {"/one": Kind.FETCHED, "/two": Kind.FETCHED},
        {"/three": Kind.FETCHED},
        {},
    ]
    assert sorted(site.pages_asked()) == ["/", "/one", "/three", "/two"]
    assert site.asked.count("/robots.txt") == 1


def test_robots_txt_is_asked_first_and_obeyed(site: Site, crawl: Crawl) -> None:
    site.text("/robots.txt", "User-agent: *\nDisallow: /private")
    site.page("/open")
    site.page("/private/x")
    crawl.inject(site.url("/open"), site.url("/private/x"))
    fetched = crawl.fetch()
    assert fetched.kinds(site.host) == {"/open": Kind.FETCHED, "/private/x": Kind.DISALLOWED}
    assert "Disallow: /private" in fetched.outcomes()[site.url("/private/x")].reason
    assert site.asked == ["/robots.txt", "/open"]


def test_a_stop_is_heard_while_very_many_urls_are_forbidden(
    site: Site, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.text("/robots.txt", "User-agent: *\nDisallow: /private")
    crawl.inject(*(site.url(f"/private/{number}") for number in range(1000)))
    verdict, began = Robots.verdict, time.monotonic()

    def slow(robots: Robots, url: str) -> Verdict:
        time.sleep(0.01)
        return verdict(robots, url)

    monkeypatch.setattr(Robots, "verdict", slow)
    files = fetch_partition(crawl.order(), crawl.store, should_stop=lambda: time.monotonic() > began + 0.5)
    assert time.monotonic() - began < 5
    kinds = {outcome.kind for outcome in Fetched(crawl.store, files).outcomes().values()}
    assert kinds == {Kind.DISALLOWED}


def test_robots_txt_behind_redirects_is_followed(site: Site, crawl: Crawl) -> None:
    site.redirect("/robots.txt", "/hop")
    site.redirect("/hop", "/rules")
    site.text("/rules", "User-agent: *\nDisallow: /")
    crawl.inject(site.url())
    assert crawl.fetch().kinds(site.host) == {"/": Kind.DISALLOWED}
    assert site.asked == ["/robots.txt", "/hop", "/rules"]


def test_a_host_whose_robots_txt_fails_is_not_crawled_and_its_pages_wait(site: Site, crawl: Crawl) -> None:
    site.text("/robots.txt", "no", status=500)
    site.page("/")
    crawl.inject(site.url())
    fetched = crawl.round()
    assert fetched.kinds(site.host) == {"/": Kind.FAILED}
    assert "robots.txt answered with status 500" in fetched.outcomes()[site.url()].reason
    assert site.asked == ["/robots.txt"]
    entry = crawl.entry(site.url())
    assert entry is not None and entry.status is Status.UNFETCHED and entry.next_due > time.time() + 1800


def test_a_host_at_a_forbidden_address_is_not_dialled_and_says_so(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(fetch={"allowed_networks": []}))
    crawl.inject(site.url())
    (outcome,) = crawl.fetch().outcomes().values()
    assert outcome.kind is Kind.EXCLUDED and "fetch.allowed_networks" in outcome.reason
    assert site.asked == []


def test_redirects_are_recorded_and_their_targets_taken_up(site: Site, crawl: Crawl) -> None:
    site.redirect("/old", "/new")
    site.redirect("/now", "/later", status=302)
    site.redirect("/away", "http://elsewhere.example/")
    site.redirect("/self", "/self")
    crawl.inject(*map(site.url, ("/old", "/now", "/away", "/self")))
    fetched = crawl.fetch()
    assert fetched.kinds(site.host) == {
        "/old": Kind.MOVED,
        "/now": Kind.FOUND,
        "/away": Kind.MOVED,
        "/self": Kind.FAILED,
    }
    assert fetched.outcomes()[site.url("/old")].target == site.url("/new")
    assert paths(fetched.fresh(), site.host) == {"/new", "/later"}
    assert fetched.fresh()[site.url("/new")].depth == 0
    assert "/new" not in site.asked


def test_a_meta_refresh_is_a_redirect(site: Site, crawl: Crawl) -> None:
    site.page("/moved", "/link", head='<meta http-equiv="refresh" content="0; url=/there">')
    site.page("/waits", head='<meta http-equiv="refresh" content="600; url=/there">')
    crawl.inject(site.url("/moved"), site.url("/waits"))
    fetched = crawl.fetch()
    assert fetched.kinds(site.host) == {"/moved": Kind.MOVED, "/waits": Kind.FETCHED}
    assert fetched.outcomes()[site.url("/moved")].target == site.url("/there")
    assert "/link" not in paths(fetched.fresh(), site.host)


def test_statuses_mean_what_the_webdb_calls_them(site: Site, crawl: Crawl) -> None:
    expected = {
        404: Kind.GONE,
        410: Kind.GONE,
        401: Kind.FORBIDDEN,
        403: Kind.FORBIDDEN,
        451: Kind.FORBIDDEN,
        400: Kind.FAILED,
        429: Kind.FAILED,
        503: Kind.FAILED,
        204: Kind.EXCLUDED,
    }
    for status in expected:
        site.text(f"/{status}", "", status=status)
    crawl.inject(*(site.url(f"/{status}") for status in expected))
    assert crawl.fetch().kinds(site.host) == {f"/{status}": kind for status, kind in expected.items()}


def test_noindex_keeps_a_page_out_and_follows_its_links(site: Site, crawl: Crawl) -> None:
    site.page("/meta", "/a", head='<meta name="robots" content="noindex">')
    site.page("/header", "/b", X_Robots_Tag="noindex, nofollow")
    crawl.inject(site.url("/meta"), site.url("/header"))
    fetched = crawl.fetch()
    assert set(fetched.kinds().values()) == {Kind.NOINDEX}
    assert paths(fetched.fresh(), site.host) == {"/a"}
    assert not fetched.of("docs")


def test_of_equal_pages_one_counts_and_near_ones_are_kept(site: Site, crawl: Crawl) -> None:
    site.page("/1", title="t", text=FILLER)
    site.page("/2", title="t", text=FILLER)
    site.page("/3", title="t", text=FILLER + " other")
    crawl.inject(*map(site.url, ("/1", "/2", "/3")))
    fetched = crawl.round()
    assert fetched.kinds(site.host) == dict.fromkeys(("/1", "/2", "/3"), Kind.FETCHED)
    assert fetched.indexed(site.host) == {"/1", "/2", "/3"}, "who leads is not known yet"
    assert crawl.statuses(site.host) == {"/1": Status.FETCHED, "/2": Status.DUPLICATE, "/3": Status.FETCHED}


def test_equal_pages_keep_their_roles_whichever_is_fetched_first(site: Site, crawl: Crawl) -> None:
    site.page("/1", title="t", text=FILLER)
    site.page("/2", title="t", text=FILLER)
    crawl.inject(site.url("/1"), site.url("/2"))
    crawl.round()
    before = crawl.statuses(site.host)
    assert before == {"/1": Status.FETCHED, "/2": Status.DUPLICATE}
    for path in before:
        entry = crawl.entry(site.url(path))
        assert entry is not None
        # This time the other one comes first.
        crawl.make_due((site.url(path), replace(_due(entry), score=0.1 if path == "/1" else 0.9)))
    site.asked.clear()
    crawl.round()
    assert crawl.statuses(site.host) == {"/1": Status.UNCHANGED, "/2": Status.DUPLICATE}
    assert site.asked[-1] == "/1"


def test_unchanged_pages_are_not_sent_again(site: Site, crawl: Crawl) -> None:
    site.page("/", ETag='"v1"')
    crawl.inject(site.url())
    crawl.round()
    entry = crawl.entry(site.url())
    assert entry is not None
    crawl.make_due((site.url(), _due(entry)))
    fetched = crawl.round()
    assert fetched.kinds(site.host) == {"/": Kind.NOT_MODIFIED}
    assert site.conditions == ["/"]
    after = crawl.entry(site.url())
    assert after is not None and after.status is Status.UNCHANGED and after.signature == entry.signature


def test_what_is_no_document_is_excluded(site: Site, crawl: Crawl) -> None:
    site.resources["/x"] = Resource(b"\x7fELF\x00\x00", headers={"Content-Type": "application/octet-stream"})
    site.resources["/y"] = Resource(b"\x89PNG", headers={"Content-Type": "image/png"})
    crawl.inject(site.url("/x"), site.url("/y"))
    fetched = crawl.fetch()
    assert set(fetched.kinds().values()) == {Kind.EXCLUDED}
    assert fetched.outcomes()[site.url("/x")].reason.startswith("unsupported type")


def test_a_page_adds_so_many_urls_that_look_like_a_trap_but_known_ones_do_not_count(
    site: Site, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path / "c", settings(scope={"max_new_urls_per_page": 3}))
    menu = [f"/?menu={number}" for number in range(3)]
    site.page("/", *menu, "/?four", "/plain")
    site.page("/?menu=0", *menu, "/?own=1", "/?own=2", "/?own=3", "/?own=4")
    crawl.inject(site.url())
    assert paths(crawl.round().fresh(), site.host) == {*menu, "/plain"}
    fresh = paths(crawl.round().fresh(), site.host)
    assert {"/?own=1", "/?own=2", "/?own=3"} <= fresh and "/?own=4" not in fresh


@pytest.mark.slow
def test_the_links_of_a_long_page_are_all_taken_in_its_first_round(site: Site, crawl: Crawl) -> None:
    leaves = [f"/leaf{number:03d}" for number in range(239)]
    site.page("/", *leaves)
    for leaf in leaves:
        site.page(leaf)
    crawl.inject(site.url())
    crawl.later_round()
    crawl.later_round()
    assert sorted(site.pages_asked()) == ["/", *leaves], "two rounds, and no page is asked twice"


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [2, pytest.param(8, marks=pytest.mark.integration)])
def test_what_looks_like_a_trap_is_all_taken_up_with_time(site: Site, crawl: Crawl, rounds: int) -> None:
    leaves = [f"/?leaf={number:03d}" for number in range(rounds * 50)]
    site.page("/", *leaves, ETag='"one"')
    for leaf in leaves:
        site.page(leaf)
    crawl.inject(site.url())
    known = 0
    for _ in range(rounds):
        fresh = paths(crawl.later_round().fresh(), site.host)
        assert len(fresh) == known + 50
        known = len(fresh)
    seed = crawl.entry(site.url())
    assert seed is not None and seed.links_taken == 0
    assert seed.interval == crawl.config.recrawl.pace.initial.whole, (
        "visits for its links say nothing of its pace"
    )
    crawl.later_round()
    assert sorted(site.pages_asked()) == ["/"] * rounds + leaves
    assert site.conditions == []


@pytest.mark.slow
def test_a_page_with_other_links_on_each_visit_stays_bounded(site: Site, tmp_path: Path) -> None:
    limits = {"scope": {"max_new_urls_per_page": 3}, "parse": {"max_links": 12}}
    crawl = Crawl(tmp_path / "c", settings(**limits))
    crawl.inject(site.url())
    for visit in range(6):
        site.page("/", *(f"/trap/?visit={visit}.{number}" for number in range(300)))
        assert len(paths(crawl.later_round().fresh(), site.host)) == (3 if visit < 4 else 0)
    assert site.pages_asked().count("/") == 4


@pytest.mark.parametrize("equal", [True, False])
def test_a_copy_of_another_page_brings_only_so_many_urls(site: Site, tmp_path: Path, equal: bool) -> None:
    crawl = Crawl(tmp_path / "c", settings(scope={"max_new_urls_per_page": 3}))
    text = " ".join(f"word{number}" for number in range(80))
    for name in ("/a", "/b"):
        links = "".join(f'<a href="{name}/{number}"> </a>' for number in range(20))
        own = text if equal else f"{text} {name} ".replace("word", f"{name[1:]}-word")
        site.text(name, f"<title>page</title><p>{own}</p>{links}", kind="text/html")
    crawl.inject(site.url("/a"), site.url("/b"))
    fresh = paths(crawl.round().fresh(), site.host)
    assert len(fresh) == (20 + 3 if equal else 40)


def test_a_trap_is_left_alone_when_its_budget_is_used_up(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(budgets={"urls_per_prefix": 5, "urls_earned_per_page": 0}))
    for day in range(40):
        site.page(f"/calendar/{day}", *(f"/calendar/{day + ahead}" for ahead in range(1, 4)))
    crawl.inject(site.url("/calendar/0"))
    for _ in range(6):
        crawl.round()
    # Of a host too small to be counted the budget counts twice at most: what was known, and what is new.
    assert 5 <= len(site.pages_asked()) < 2 * 5


def test_sitemaps_make_pages_known_and_changed_ones_due(site: Site, crawl: Crawl) -> None:
    site.text("/robots.txt", f"User-agent: *\nDisallow:\nSitemap: {site.url('/sitemap.xml')}")
    site.page("/")
    site.page("/listed")
    entries = "".join(
        f"<url><loc>{site.url(path)}</loc><lastmod>2021-05-05</lastmod></url>" for path in ("/", "/listed")
    )
    site.text(
        "/sitemap.xml", f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    )
    crawl.inject(site.url())
    fetched = crawl.round()
    assert site.asked == ["/robots.txt", "/", "/sitemap.xml"]
    assert fetched.fresh()[site.url("/listed")].source == site.url("/sitemap.xml")
    assert fetched.counters()["sitemaps"] == 1
    assert site.url("/sitemap.xml") not in fetched.outcomes()


def test_a_sitemap_that_cannot_be_read_to_its_end_is_counted(site: Site, crawl: Crawl) -> None:
    names = "\n".join(f"Sitemap: {site.url(path)}" for path in ("/gb.xml", "/broken.xml"))
    site.text("/robots.txt", names)
    site.page("/")
    entry = f"<urlset><url><loc>{site.url('/listed')}</loc></url>"
    site.text("/gb.xml", f'<?xml version="1.0" encoding="gb2312"?>{entry}</urlset>')
    site.text("/broken.xml", f"{entry}</nonsense>")
    crawl.inject(site.url())
    fetched = crawl.round()
    assert site.url("/listed") in fetched.fresh()
    assert fetched.counters()["sitemaps"] == 2
    assert fetched.counters()["sitemap_problems"] == 1


def test_a_known_page_that_its_sitemap_calls_newer_is_fetched_before_it_is_due(
    site: Site, crawl: Crawl
) -> None:
    site.page("/")
    site.page("/news")
    crawl.inject(site.url(), site.url("/news"))
    crawl.round()
    now = int(time.time())
    entry, news = crawl.entry(site.url()), crawl.entry(site.url("/news"))
    assert entry is not None and news is not None
    old = replace(news, last_fetched=now - 9 * 86400, last_tried=now - 9 * 86400)
    crawl.make_due((site.url(), _due(entry)), (site.url("/news"), old))
    crawl.forget_hosts()
    site.text("/robots.txt", f"Sitemap: {site.url('/sitemap.xml')}")
    day = time.strftime("%Y-%m-%d", time.gmtime(now - 3 * 86400))
    site.text(
        "/sitemap.xml", f"<urlset><url><loc>{site.url('/news')}</loc><lastmod>{day}</lastmod></url></urlset>"
    )
    assert set(crawl.fetch().kinds(site.host)) == {"/", "/news"}


def test_a_host_gives_its_share_and_the_rest_stays_due(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(politeness={"pages_per_host": 2}))
    for number in range(5):
        site.page(f"/{number}")
    crawl.inject(*(site.url(f"/{number}") for number in range(5)))
    assert [len(crawl.round().outcomes()) for _ in range(4)] == [2, 2, 1, 0]


@pytest.mark.slow
def test_a_run_is_saved_when_the_memory_of_the_task_is_filled(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(round={"task_memory": "1M"}))
    for number in range(40):
        site.page(f"/{number}", text=f"{FILLER * 20} {number} {FILLER[:number]}")
    crawl.inject(*(site.url(f"/{number}") for number in range(40)))
    fetched = crawl.fetch()
    assert len(fetched.outcomes()) == 40
    assert len(fetched.of("outcomes")) > 1


@pytest.mark.slow
def test_a_page_that_cannot_be_parsed_in_time_does_not_stop_the_others(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(parse={"time_limit": "1s"}))
    site.text("/deep", "<div>" * 100_000, kind="text/html")
    site.page("/plain")
    crawl.inject(site.url("/deep"), site.url("/plain"))
    outcomes = crawl.fetch().outcomes()
    assert outcomes[site.url("/plain")].kind is Kind.FETCHED
    assert outcomes[site.url("/deep")].reason.startswith("parse timeout")


def test_the_page_budget_bounds_a_round(site: Site, crawl: Crawl) -> None:
    for number in range(6):
        site.page(f"/{number}")
    crawl.inject(*(site.url(f"/{number}") for number in range(6)))
    assert len(crawl.fetch(max_pages=4).outcomes()) == 4
    assert len(site.pages_asked()) == 4


def test_the_byte_budget_stops_a_round(site: Site, crawl: Crawl) -> None:
    for number in range(20):
        site.page(f"/{number}", text="x" * 10_000 + str(number))
    crawl.inject(*(site.url(f"/{number}") for number in range(20)))
    fetched = crawl.fetch(max_bytes=30_000)
    assert 1 <= len(fetched.outcomes()) < 10
    assert len(fetched.outcomes()) == len(site.pages_asked())


@pytest.mark.slow
def test_at_the_deadline_what_is_under_way_is_given_up_and_stays_due(tmp_path: Path) -> None:
    with serving(2) as (quick, slow):
        crawl = Crawl(tmp_path / "c")
        quick.page("/")
        slow.text("/robots.txt", "")
        slow.resources["/"] = Resource(b"late", seconds=20)
        crawl.inject(quick.url(), slow.url())
        started = time.monotonic()
        fetched = crawl.fetch(deadline=time.time() + 2)
        assert time.monotonic() - started < 10
        assert set(fetched.outcomes()) == {quick.url()}


def test_a_dead_host_does_not_hold_up_the_others(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(politeness={"backoff": "5s", "robots_tries": 3}))
    with serving(1) as (gone,):
        dead = gone.host
    with serving(3) as sites:
        for site in sites:
            for number in range(5):
                site.page(f"/{number}")
        crawl.inject(f"http://{dead}/", *(site.url(f"/{number}") for site in sites for number in range(5)))
        fetched = crawl.fetch(deadline=time.time() + 4)
        assert sum(kind is Kind.FETCHED for kind in fetched.kinds().values()) == 15


def test_when_only_failing_hosts_are_left_the_round_does_not_wait_for_them(
    site: Site, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path / "c", settings(politeness={"backoff": "1h", "robots_tries": 3}))
    with serving(1) as (gone,):
        dead = gone.host
    site.page("/")
    crawl.inject(f"http://{dead}/", site.url("/"))
    fetched = crawl.fetch(deadline=time.time() + 3600)  # the test has two minutes
    assert fetched.kinds(site.host) == {"/": Kind.FETCHED}
    assert f"http://{dead}/" not in fetched.outcomes()


def test_urls_that_the_rules_have_come_to_exclude_are_not_asked_for(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(scope={"exclude": [f"http://127.0.0.1:{site.host[10:]}/no"]}))
    site.page("/yes")
    crawl.inject(site.url("/yes"), site.url("/no"))
    fetched = crawl.fetch()
    assert fetched.kinds(site.host) == {"/yes": Kind.FETCHED, "/no": Kind.EXCLUDED}
    assert fetched.outcomes()[site.url("/no")].reason.startswith("scope.exclude")
    assert "/no" not in site.asked


def test_host_states_are_saved_and_found_again(site: Site, crawl: Crawl) -> None:
    site.page("/", "/next")
    site.page("/next")
    crawl.inject(site.url())
    state = crawl.round().hosts()[site.host]
    assert state.pages == 1 and state.robots["http"].status == 404
    assert crawl.round().hosts()[site.host].pages == 2
    assert site.asked.count("/robots.txt") == 1


def test_a_task_with_nothing_due_leaves_nothing(crawl: Crawl) -> None:
    assert fetch_partition(crawl.order(), crawl.store) == []


def test_a_task_gives_the_cores_for_its_helpers_back(site: Site, crawl: Crawl, tmp_path: Path) -> None:
    pages = [f"/{number}" for number in range(60)]
    for path in pages:
        site.page(path)
    crawl.inject(*map(site.url, pages))
    folder = tmp_path / "progress"
    folder.mkdir()
    assert len(crawl.fetch(progress=str(folder)).outcomes()) == len(pages)
    assert list(folder.glob("slot-*.lock"))
    slots = SharedSlots(str(folder), usable_cores())
    assert slots.hold(usable_cores())
    slots.close()


def test_a_task_that_has_parsed_all_leaves_its_cores_to_others_while_it_saves(
    site: Site, crawl: Crawl, tmp_path: Path
) -> None:
    site.page("/")
    crawl.inject(site.url())
    free: list[bool] = []

    class Builder(RunBuilder):
        def write(self, store: Store, *, partition: int, round_number: int) -> tuple[FileEntry, ...]:
            slots = SharedSlots(str(tmp_path), usable_cores())
            free.append(slots.hold(usable_cores()))
            slots.close()
            return super().write(store, partition=partition, round_number=round_number)

    fetch_partition(crawl.order(progress=str(tmp_path)), crawl.store, new_builder=Builder)
    assert list(tmp_path.glob("slot-*.lock"))
    assert free == [True]


def test_progress_is_told(site: Site, crawl: Crawl) -> None:
    site.page("/")
    crawl.inject(site.url())
    told: list[Progress] = []
    fetch_partition(crawl.order(), crawl.store, progress=told.append)
    assert told and told[-1] == Progress(1, 1, told[-1].bytes)


def _due(entry: WebEntry) -> WebEntry:
    return replace(entry, next_due=int(time.time()) - 5, last_tried=entry.last_tried - 60)


@pytest.mark.parametrize("jump", [-86400, 86400])
def test_a_clock_that_is_set_in_a_round_changes_nothing(
    site: Site, crawl: Crawl, monkeypatch: pytest.MonkeyPatch, jump: int
) -> None:
    for number in range(8):
        site.page(f"/{number}")
    crawl.inject(*(site.url(f"/{number}") for number in range(8)))
    order, wall, started = crawl.order(), time.time, time.monotonic()
    begun = wall()

    def set_after_some_pages() -> float:
        return wall() + (jump if len(site.pages_asked()) > 2 else 0)

    monkeypatch.setattr(time, "time", set_after_some_pages)
    fetched = Fetched(crawl.store, fetch_partition(order, crawl.store))
    assert time.monotonic() - started < 30
    assert len(fetched.outcomes()) == 8
    assert all(abs(outcome.fetched_at - begun) < 60 for outcome in fetched.outcomes().values())
    assert abs(fetched.hosts()[site.host].not_before - begun) < 60


def test_a_pdf_longer_than_a_page_may_be_is_indexed(
    site: Site, tmp_path: Path, pdf_of: Callable[..., bytes]
) -> None:
    long = pdf_of("hello world", title="manual", padding=20_000)
    headers = {"Content-Type": "application/pdf"}
    site.resources |= {"/whole": Resource(long, headers=headers), "/cut": Resource(long * 2, headers=headers)}
    crawl = Crawl(tmp_path, settings(fetch={"max_body": 8192}, parse={"max_pdf": len(long)}))
    crawl.inject(site.url("/whole"), site.url("/cut"))
    fetched = crawl.round()
    assert fetched.indexed(site.host) == {"/whole"}
    assert "the setting parse.max_pdf allows" in fetched.outcomes()[site.url("/cut")].reason
