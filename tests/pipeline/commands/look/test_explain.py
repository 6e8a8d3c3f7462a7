from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.politeness.host_state import HostState, KnownRobots, KnownSitemaps
from crawlctl.pipeline.robots.robots import Robots
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.documents.page import PageDetails
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.anchors import OUTSIDE
from crawlctl.pipeline.webdb.merge.update import advance_part, inject
from crawlctl.pipeline.webdb.part import with_parts
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, encode
from crawlctl.pipeline.webdb.row_files import write_table

SEED = "https://a.example/"
NOW = 1_700_000_000
ROBOTS = b"User-agent: *\nDisallow: /private/\n"
FAR = 4e9

OUTCOMES = {
    "page": Outcome(Kind.FETCHED, NOW + 60, 200, b"sig"),
    "gone": Outcome(Kind.GONE, NOW + 60, 404),
    "old": Outcome(Kind.MOVED, NOW + 60, 301, target="https://a.example/new"),
    "twin": Outcome(Kind.DUPLICATE, NOW + 60, 200, canonical="https://a.example/page"),
    "slow": Outcome(Kind.FAILED, NOW + 60, reason="timeout: no answer in 60 s"),
    "secret": Outcome(Kind.DISALLOWED, NOW + 60, reason="robots.txt: Disallow: /secret"),
    "index": Outcome(Kind.NOINDEX, NOW + 60, 200, reason="noindex"),
    "print": Outcome(Kind.FETCHED, NOW + 60, 200, b"print", named="https://a.example/page"),
    "reprint": Outcome(Kind.FETCHED, NOW + 60, 200, b"reprint", named="https://a.example/print"),
    "misled": Outcome(Kind.FETCHED, NOW + 60, 200, b"misled", named="https://a.example/gone"),
    "circle": Outcome(Kind.FETCHED, NOW + 60, 200, b"circle", named="https://a.example/circle-2"),
    "circle-2": Outcome(Kind.FETCHED, NOW + 60, 200, b"circle-2", named="https://a.example/circle"),
    "hopeful": Outcome(Kind.FETCHED, NOW + 60, 200, b"hopeful", named="https://a.example/new"),
    "orphan": Outcome(Kind.DUPLICATE, NOW + 60, 200, b"orphan"),
}
NAMES_IN_VAIN = "it names https://a.example/{} in its place, which cannot stand for it"
FETCHED = "fetched at 2023-11-14 22:14:20 UTC, new or changed"


@pytest.fixture
def crawl(shell: Any) -> Any:
    """A crawl in which one URL of each kind has been met."""
    store = LocalStore(Path("crawl"))
    empty = create_crawl(store, 1)
    seeded = commit(store, empty, files=inject(store, empty, [SEED], NOW).files, round_number=0)
    found = [*OUTCOMES, "new", "private/x", "photo.jpg", "https://late.example/"]
    fresh = sorted((webdb_key(url_of(name)), Fresh(NOW + 30, 1, source=SEED)) for name in found)
    heard = sorted((webdb_key(url_of(name)), outcome) for name, outcome in OUTCOMES.items())
    settings = RecrawlSettings()
    part = advance_part(store, seeded, 0, fresh, heard, now=NOW + 90, settings=settings, round_number=1)
    known = KnownRobots(Robots.parse(ROBOTS, "crawlctl"), NOW + 20.0, 200)
    sitemaps = KnownSitemaps(
        read_at=NOW + 30.0, problem="https://a.example/s.xml: status 404", feeds=("https://a.example/feed",)
    )
    here = HostState({"https": known}, pages=7, sitemaps=sitemaps)
    states = {"a.example": here, "late.example": HostState(not_before=FAR)}
    rows = ([host.encode() for host in states], [encode(state) for state in states.values()])
    hosts = write_table(store, "hosts", [rows], partition=0, round_number=1)
    commit(store, seeded, files=with_parts(seeded, [*part.files, hosts]), round_number=1)
    return shell


def url_of(name: str) -> str:
    return name if "://" in name else SEED + name


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("page", "fetched at 2023-11-14 22:14:20 UTC, new or changed"),
        ("gone", "gone (status 404)"),
        ("old", "it leads to https://a.example/new"),
        ("twin", f"it has the content of https://a.example/page, which stands for it ({FETCHED})"),
        ("print", f"it names https://a.example/page in its place, which stands for it ({FETCHED})"),
        (
            "reprint",
            "it names https://a.example/print in its place, through which https://a.example/page stands for"
            f" it ({FETCHED})",
        ),
        ("misled", f"{FETCHED}; {NAMES_IN_VAIN.format('gone')} (gone (status 404))"),
        (
            "circle",
            f"{FETCHED}; {NAMES_IN_VAIN.format('circle-2')} (it names https://a.example/circle in its place)",
        ),
        ("hopeful", f"{FETCHED}; {NAMES_IN_VAIN.format('new')} (not fetched so far)"),
        ("orphan", "not in the index: the page that stood for it no longer does"),
        ("slow", "not fetched so far; the last try failed (timeout: no answer in 60 s)"),
        ("secret", "forbidden (robots.txt: Disallow: /secret)"),
        ("index", "kept out of the index (status 200: noindex)"),
        ("new", "not fetched: it is due and waits for a round that has room for it"),
        ("private/x", "not fetched: robots.txt says Disallow: /private/"),
        ("photo.jpg", "not fetched: kept out by scope.skip_extensions: a file of type jpg"),
        ("never-heard-of", "unknown: no seed names it, and no page fetched so far led to it"),
        ("https://b.example/", "unknown, and it would be kept out by scope.include: no rules are set"),
    ],
)
def test_the_first_line_says_why(crawl: Any, name: str, why: str) -> None:
    assert crawl.json("explain", url_of(name))["why"].startswith(why)
    assert why in crawl("explain", url_of(name))


def test_a_host_that_asked_us_to_wait_is_named(crawl: Any) -> None:
    settings = ("--set", "scope.include=[a.example, late.example]")
    told = crawl.json(*settings, "explain", "https://late.example/")
    assert told["why"] == "not fetched: its host may not be asked before 2096-10-02 07:06:40 UTC"


def test_the_rule_of_robots_txt_is_shown_with_its_line(crawl: Any) -> None:
    told = crawl.json("explain", url_of("private/x"))
    assert told["robots"]["allowed"] is False
    assert (told["robots"]["line"], told["robots"]["read_at"]) == (2, NOW + 20)
    assert "forbidden (Disallow: /private/, line 2; read 2023-11-14" in crawl("explain", url_of("private/x"))
    assert crawl.json("explain", url_of("page"))["robots"]["allowed"] is True
    assert crawl.json("explain", "http://a.example/page")["robots"] is None, "another scheme, another file"


def test_dump_lists_the_rules_of_robots_txt(crawl: Any) -> None:
    (line,) = (line for line in crawl("dump", "hosts").splitlines() if line.startswith("a.example"))
    assert '"rules":[[false,"/private/",2]]' in line.replace(", ", ",").replace(": ", ":")


def test_what_was_wrong_with_the_sitemaps_of_the_host_is_shown(crawl: Any) -> None:
    said = (
        "read 2023-11-14 22:13:50 UTC; with 1 feed (https://a.example/feed); "
        "https://a.example/s.xml: status 404"
    )
    assert said in crawl("explain", url_of("page"))
    told = crawl.json("explain", url_of("page"))["host"]["sitemaps"]
    assert told["problem"] == "https://a.example/s.xml: status 404"


def test_what_is_known_of_a_page_is_listed(crawl: Any) -> None:
    told = crawl.json("explain", "https://A.example:443/old#fragment")
    assert told["url"] == "https://a.example/old"
    assert (told["status"], told["code"], told["depth"], told["source"]) == ("redirected", 301, 1, SEED)
    assert (told["redirect_to"], told["known"], told["exclusion"]) == ("https://a.example/new", True, None)
    printed = crawl("explain", SEED)
    assert "a seed" in printed
    assert "(due now)" in printed


def test_the_page_that_stands_for_another_is_told_with_its_status(crawl: Any) -> None:
    assert crawl.json("explain", url_of("reprint"))["stands_in"] == {
        "url": url_of("page"),
        "status": "fetched",
    }
    assert crawl.json("explain", url_of("misled"))["stands_in"] == {"url": url_of("gone"), "status": "gone"}
    assert crawl.json("explain", url_of("page"))["stands_in"] is None


@pytest.fixture
def indexed(crawl: Any) -> Any:
    """The same crawl with documents: of a page, of a twin of it, and of one that has changed since."""
    store = LocalStore(Path("crawl"))
    builder = RunBuilder()
    links = ((url_of("new"), "", False), (url_of("hidden"), "", True), (url_of("page"), "", False))
    page = Document(url_of("page"), "A page", text="some five words of it", language="en", links=links)
    page = replace(page, details=PageDetails(repeated=41))
    builder.add(replace(page, fetched_at=NOW + 60, signature=b"sig"))
    builder.add(Document(url_of("twin"), links=((url_of("over"), "", False),), signature=b""))
    builder.add(Document(SEED, links=links, signature=b"older"))
    snapshot = load_current(store)
    run = builder.write(store, partition=0, round_number=1)
    commit(store, snapshot, files=(*snapshot.files, *run), round_number=1)
    return crawl


def test_what_was_left_out_as_repeated_is_counted(indexed: Any) -> None:
    assert "left out      41 characters that most pages of the host have\n" in indexed(
        "explain", url_of("page")
    )
    assert indexed.json("explain", url_of("page"))["document"]["details"]["repeated"] == 41


def test_the_document_and_the_pages_that_link_to_it_are_shown(indexed: Any) -> None:
    told = indexed.json("explain", url_of("page"))
    assert told["document"]["title"] == "A page"
    assert (told["document"]["words"]["body"], told["document"]["fetched_at"]) == (5, NOW + 60)
    assert told["linked_from"] == [], "its own links do not count"
    assert told["duplicates"] == {"canonical": url_of("page"), "others": [url_of("print"), url_of("twin")]}
    linking = indexed.json("explain", url_of("new"))["linked_from"]
    assert linking == [{"url": url_of("page"), "nofollow": False}]
    printed = indexed("explain", url_of("page"))
    assert "A page (5 words in en, fetched 2023-11-14 22:14:20 UTC)" in printed
    assert ["duplicates", url_of("print")] in [line.split() for line in printed.splitlines()]


def test_a_twin_is_shown_with_the_page_that_leads_it(indexed: Any) -> None:
    told = indexed.json("explain", url_of("twin"))
    assert told["document"] is None
    assert told["duplicates"] == {"canonical": url_of("page"), "others": [url_of("print")]}


def test_links_tell_why_a_url_is_unknown(indexed: Any) -> None:
    hidden = indexed.json("explain", url_of("hidden"))
    assert hidden["linked_from"] == [{"url": url_of("page"), "nofollow": True}]
    assert hidden["why"].endswith("the pages that link to it do so with nofollow")
    assert "/page (nofollow)" in indexed("explain", url_of("hidden"))
    assert "a limit (scope.max_new_urls_per_page" in indexed.json("explain", url_of("over"))["why"]


def test_all_links_are_read_only_if_wanted(indexed: Any) -> None:
    assert "linked_from" not in indexed.json("explain", "--no-links", url_of("new"))
    assert "linked from" not in indexed("explain", "--no-links", url_of("new"))


def test_links_that_wait_for_the_next_visit_are_mentioned(crawl: Any) -> None:
    store = LocalStore(Path("crawl"))
    snapshot = load_current(store)
    heard = [(webdb_key(SEED), Outcome(Kind.FETCHED, NOW + 70, 200, b"long", links_taken=50))]
    settings = RecrawlSettings()
    part = advance_part(store, snapshot, 0, [], heard, now=NOW + 90, settings=settings, round_number=2)
    commit(store, snapshot, files=with_parts(snapshot, part.files), round_number=2)
    assert "the first 50 are taken up, the next visit takes up more" in crawl("explain", SEED)


def test_anchors_are_told_with_who_uses_them(crawl: Any) -> None:
    store = LocalStore(Path("crawl"))
    snapshot = load_current(store)
    fresh = [
        (webdb_key(SEED), Fresh(NOW, anchors=("they \x1b[2Jsay", "we say"), anchor_weights=(OUTSIDE + 2,)))
    ]
    settings = RecrawlSettings()
    part = advance_part(store, snapshot, 0, fresh, [], now=NOW + 90, settings=settings, round_number=2)
    commit(store, snapshot, files=with_parts(snapshot, part.files), round_number=2)
    assert crawl.json("explain", SEED)["anchors"] == [
        {"text": "they \x1b[2Jsay", "pages": 2, "of_other_hosts": True},
        {"text": "we say", "pages": 1, "of_other_hosts": False},
    ]
    first, second = crawl("explain", SEED).split("anchors")[1].splitlines()[:2]
    assert (first.strip(), second.strip()) == ("they  [2Jsay", "we say")


def test_what_is_no_url_is_an_error(crawl: Any) -> None:
    assert "nonsense" in crawl("explain", "nonsense", code=1)


def test_without_a_crawl_the_error_names_run(shell: Any) -> None:
    assert "crawlctl run https://…" in shell("explain", SEED, code=1)
