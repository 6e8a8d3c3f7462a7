"""The pages for people, as a browser without JavaScript gets them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.search.query.operators import OPERATORS
from crawlctl.pipeline.serve.searching.page_results import PER_HOST
from crawlctl.pipeline.serve.web_pages import MAX_SIMILAR
from crawlctl.tests.pipeline.serve.served_web import (
    ESCAPED,
    HOSTILE,
    LOOP,
    NO_COPY,
    NO_COPY_HEADER,
    NUMBERED,
    PAGES,
    PAYLOAD,
    PLAIN,
    UNSPOKEN,
)

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode
    from starlette.testclient import TestClient

MAX_HTML, MAX_CSS, MAX_JS = 30_000, 10_000, 10_000  # bytes: the budget of a page
OTHER_SCRIPTS = "script:not([src='/static/search.js'][defer])"  # of which no page may have any
CANONICAL = HOSTILE.replace("'", "%27")
PATHS = ("/", "/search?q=zebra", "/search?q=nowhere", "/why?q=loop&n=1", "/help", "/about", "/search?q=%22")


def html(client: TestClient, path: str, status: int = 200) -> LexborHTMLParser:
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert len(answer.content) <= MAX_HTML
    return LexborHTMLParser(answer.text)


def text(page: LexborHTMLParser, selector: str) -> str:
    node = page.css_first(selector)
    assert node is not None, selector
    return " ".join(node.text().split())


def links(page: LexborHTMLParser, selector: str) -> list[str]:
    return [node.attributes["href"] or "" for node in page.css(selector)]


def test_the_start_page_says_what_can_be_searched(client: TestClient) -> None:
    page = html(client, "/")
    assert f"{len(PAGES)} pages of 3 sites, last updated 20" in text(page, ".contents")
    box = page.css_first("form[action='/search'][method=get] input[name=q]")
    assert box is not None and "autofocus" in box.attributes
    assert page.css_first("label[for=q]") is not None


def test_a_result_shows_title_place_snippet_dates_section_copy_and_reasons(client: TestClient) -> None:
    page = html(client, "/search?q=asynchronous+generator")
    assert text(page, ".summary p").startswith("1 page matches ·")
    title = page.css_first(".result h3 a")
    assert title is not None and title.attributes["href"] == LOOP
    assert title.attributes["rel"] == "noopener noreferrer nofollow"
    assert text(page, ".crumbs") == "docs.example › guide › loop.html"
    assert [node.text() for node in page.css(".snippet mark")] == ["asynchronous", "generator"]
    section = page.css_first(".section a")
    assert section is not None and section.attributes["href"] == f"{LOOP}#running%20loops"
    assert section.text() == "Running loops"
    facts = text(page, ".facts")
    assert "published 2020-03-04" in facts and "modified 2021-06-05" in facts
    assert links(page, ".facts a") == [
        f"/cached?url={quote(LOOP, safe='')}",
        "/why?q=asynchronous+generator&n=1",
    ]


def test_pages_of_results_have_the_same_total_and_every_result_once(client: TestClient) -> None:
    found: list[str] = []
    path, pages = f"/search?q={UNSPOKEN}+site:many.example", 0
    while path:
        page = html(client, path)
        assert text(page, ".summary p").startswith(f"{NUMBERED} pages match ·")
        found += links(page, ".result h3 a")
        path, pages = next(iter(links(page, "a[rel=next]")), ""), pages + 1
    assert (pages, len(found), len(set(found))) == (3, NUMBERED, NUMBERED)
    assert links(page, "a[rel=prev]") == [f"/search?q={UNSPOKEN}+site%3Amany.example&page=2"]


def test_a_host_has_two_results_at_most_unless_its_site_is_asked_for(client: TestClient) -> None:
    page = html(client, f"/search?q={UNSPOKEN}")
    assert text(page, ".summary p").startswith(f"{NUMBERED} pages match ·")
    assert len(page.css(".result")) == PER_HOST
    assert links(page, "a[rel=next]") == []
    assert f"{NUMBERED - PER_HOST} more on this site" in text(page, ".result:last-child .facts")
    (more,) = [node for node in page.css(".facts a") if "more on this site" in node.text()]
    every = html(client, more.attributes["href"] or "")
    assert text(every, ".summary p").startswith(f"{NUMBERED} pages match ·")
    assert len(every.css(".result")) == 10


def test_where_results_end_early_all_pages_can_be_shown(client: TestClient) -> None:
    """The limit per host leaves few results of a crawl with few hosts; the others are one click away."""
    page = html(client, f"/search?q={UNSPOKEN}")
    assert text(page, ".cut") == f"At most {PER_HOST} pages of each site are shown. Show all pages"
    (path,) = links(page, ".cut a")
    found = set()
    while path:
        every = html(client, path)
        assert every.css(".cut") == []
        found.update(links(every, ".result h3 a"))
        (why, *_) = [link for link in links(every, ".facts a") if link.startswith("/why")]
        assert text(html(client, why), ".result h3") == text(every, ".result h3")
        path = next(iter(links(every, "a[rel=next]")), "")
    assert len(found) == NUMBERED


def test_where_the_limit_has_left_out_nothing_nothing_is_said(client: TestClient) -> None:
    for query in ("loop", "*+site:many.example", UNSPOKEN + "&page=2"):
        assert html(client, f"/search?q={query}").css(".cut") == []


def test_a_result_that_is_explained_does_not_ask_why_again(client: TestClient) -> None:
    page = html(client, "/why?q=loop&n=1")
    assert [node.text() for node in page.css(".facts a")] == ["cached"]


def test_pages_with_some_of_the_words_lead_to_more_of_their_site(client: TestClient) -> None:
    page = html(client, "/search?q=wombat+aardvark")
    assert text(page, ".divider") == "Pages that have some of the words"
    assert len(page.css(".result")) == PER_HOST
    (more,) = [node for node in page.css(".facts a") if node.text() == "more on this site"]
    assert len(html(client, more.attributes["href"] or "").css(".result")) == 3


def test_facets_lead_to_the_query_with_a_filter_and_back(client: TestClient) -> None:
    page = html(client, "/search?q=*")
    assert [node.text() for node in page.css(".filters h2")] == ["Site", "Language", "Type", "Year"]
    counts = {
        " ".join((one.css_first("a, span") or one).text().split()): text_of(one)
        for one in page.css(".filters li")
    }
    assert counts["docs.example"] == "docs.example 4" and counts["2021"] == "2021 1"
    assert counts["unknown"] == f"unknown {len(PAGES) - 1}", "the year of pages that state none"
    site = html(client, link_named(page, "docs.example"))
    assert box(site) == "* site:docs.example"
    assert len(site.css(".result")) == 4
    assert links(site, ".chosen a") == ["/search?q=%2A"]
    year = html(client, link_named(page, "2021"))
    assert [node.text().split()[0] for node in year.css(".chosen a")] == ["year:2021"]
    assert links(year, ".result h3 a") == [LOOP]
    both = html(client, link_named(site, "text"))
    assert (box(both), links(both, ".result h3 a")) == ("* site:docs.example type:text", [PLAIN])
    assert links(both, ".chosen a") == ["/search?q=%2A+type%3Atext", "/search?q=%2A+site%3Adocs.example"]


def box(page: LexborHTMLParser) -> str:
    node = page.css_first("input[name=q]")
    return "" if node is None else node.attributes["value"] or ""


def text_of(node: LexborNode) -> str:
    return " ".join(node.text().split())


def link_named(page: LexborHTMLParser, name: str) -> str:
    return next(
        node.attributes["href"] or "" for node in page.css(".filters a") if node.text().strip() == name
    )


def test_the_latest_pages_of_a_query_are_a_feed(client: TestClient) -> None:
    page = html(client, "/search?q=loop")
    assert links(page, "link[type='application/rss+xml']") == ["/rss?q=loop"] == links(page, ".feed a")
    answer = client.get("/rss?q=loop+OR+hostile")
    assert answer.headers["content-type"] == "application/rss+xml"
    channel = ElementTree.fromstring(answer.content).find("channel")
    assert channel is not None
    assert channel.findtext("link") == "http://localhost/search?q=loop+OR+hostile&sort=date"
    items = {item.findtext("link"): item for item in channel.iter("item")}
    assert items.keys() == {LOOP, CANONICAL}
    assert items[LOOP].findtext("pubDate") == "Sat, 05 Jun 2021 00:00:00 GMT"
    assert items[CANONICAL].findtext("title") == PAYLOAD
    assert items[CANONICAL].find("pubDate") is None  # it has no date; that it was visited is none
    assert client.get("/rss").status_code == 400


def test_a_feed_says_how_its_query_was_read(client: TestClient) -> None:
    channel = ElementTree.fromstring(client.get("/rss", params={"q": "loop -m"}).content).find("channel")
    assert channel is not None
    assert "-m is read as the word m" in str(channel.findtext("description"))


def test_a_page_after_the_last_leads_back_to_the_first(client: TestClient) -> None:
    page = html(client, f"/search?q={UNSPOKEN}&page=4")
    assert f"No results are left on page 4; {NUMBERED} pages match." in text(page, ".lead")
    assert links(page, ".lead a") == [f"/search?q={UNSPOKEN}"]


def test_the_order_can_be_changed_and_stays_while_paging(client: TestClient) -> None:
    page = html(client, f"/search?q={UNSPOKEN}")
    assert links(page, ".summary nav a") == [f"/search?q={UNSPOKEN}&sort=date"]
    latest = html(client, f"/search?q={UNSPOKEN}+site:many.example&sort=date")
    assert links(latest, "a[rel=next]") == [f"/search?q={UNSPOKEN}+site%3Amany.example&sort=date&page=2"]
    assert latest.css_first("input[type=hidden][name=sort][value=date]") is not None


def test_without_results_it_says_what_to_try(client: TestClient) -> None:
    page = html(client, '/search?q="loop generator"')
    assert text(page, ".lead") == 'No page matches "loop generator".'
    assert "/search?q=loop+generator" in links(page, ".advice a")
    assert "No page has qqqq." in text(html(client, "/search?q=title:qqqq"), ".advice")


def test_a_word_in_quotes_counts_among_the_words_that_may_be_tried_alone(client: TestClient) -> None:
    page = html(client, '/search?q="loop" wombat lang:fr')
    assert "/search?q=loop+wombat" in links(page, ".advice a")
    assert "/search?q=%28loop+OR+wombat%29+site%3Adocs.example" in links(page, ".advice a")


def test_a_filter_that_leaves_nothing_is_named_with_what_there_is_without_it(client: TestClient) -> None:
    page = html(client, "/search?q=loop+lang:fr+wombat")
    advice = [text_of(node) for node in page.css(".advice li")]
    assert "Without the filters: loop wombat 2 pages with some of the words" in advice
    assert "Sites with most pages that have one of the words: docs.example 2" in advice
    assert "/search?q=%28loop+OR+wombat%29+site%3Adocs.example" in links(page, ".advice a")
    full = [text_of(node) for node in html(client, "/search?q=generator+lang:fr").css(".advice li")]
    assert "Without the filters: generator 1 page" in full
    alone = html(client, "/search?q=site:nowhere.example")
    assert [node.text() for node in alone.css(".chosen a")] == ["site:nowhere.example"]


def test_a_misspelt_word_is_searched_for_as_it_should_be_and_as_typed_on_request(client: TestClient) -> None:
    page = html(client, "/search?q=asynchronus+loop")
    assert text(page, ".suggestion") == (
        "Showing results for asynchronous loop. Search instead for asynchronus loop."
    )
    assert links(page, ".suggestion a") == [
        "/search?q=asynchronous+loop",
        "/search?q=asynchronus+loop&exact=1",
    ]
    assert (box(page), links(page, ".result h3 a")) == ("asynchronus loop", [LOOP])
    assert "asynchronous loop" in text(html(client, "/why?q=asynchronus+loop&n=1"), "main > p")
    typed = html(client, "/search?q=asynchronus+loop&exact=1")
    assert text(typed, ".suggestion") == "Did you mean asynchronous loop?"
    assert links(typed, ".suggestion a") == ["/search?q=asynchronous+loop"]
    assert text(typed, ".summary p").startswith("0 pages match, 1 more has some of the words")


def test_notices_of_the_parser_are_shown(client: TestClient) -> None:
    assert page_notices(client, "loop+(") == ["1 ( not closed; read as if there were as many ) at the end"]
    assert page_notices(client, "loop") == []


def page_notices(client: TestClient, query: str) -> list[str]:
    return [node.text() for node in html(client, f"/search?q={query}").css(".notice")]


def test_a_query_that_is_not_understood_is_shown_with_a_caret_and_stays_in_the_box(
    client: TestClient,
) -> None:
    page = html(client, "/search?q=loop+OR", 400)
    assert text(page, "h1") == "This query was not understood"
    caret = page.css_first(".caret")
    assert caret is not None and caret.text().splitlines()[-1].strip() == "^"
    assert page.css_first("input[name=q][value='loop OR']") is not None


def test_why_explains_a_score(client: TestClient) -> None:
    page = html(client, f"/why?q={UNSPOKEN}+site:many.example&n=12")
    assert text(page, ".tree > li").partition(" ")[2].startswith("score: the sum of")
    assert links(page, "main > p a") == [f"/search?q={UNSPOKEN}+site%3Amany.example&page=2"]
    assert "There is no result 999." in text(html(client, f"/why?q={UNSPOKEN}&n=999"), ".lead")


def test_the_copy_of_a_page_is_a_frame_in_a_sandbox_with_its_date(client: TestClient) -> None:
    page = html(client, f"/cached?url={quote(LOOP)}")
    assert "fetched 2023-11-14 22:13 UTC" in text(page, "main p")
    frame = page.css_first("iframe")
    assert frame is not None and frame.attributes["sandbox"] in ("", None)
    copy = client.get(frame.attributes["src"] or "")
    assert copy.content == PAGES[LOOP][0]
    assert copy.headers["content-type"] == "text/html; charset=utf-8"
    policy = copy.headers["content-security-policy"].split("; ")
    assert {"sandbox", "default-src 'none'", "frame-ancestors 'self'"} <= set(policy)
    assert not any("script" in rule for rule in policy), "a sandbox runs none, and default-src loads none"


def test_a_copy_that_is_no_page_is_shown_as_text(client: TestClient) -> None:
    page = html(client, f"/cached?url={quote(PLAIN)}")
    assert page.css_first("iframe") is None
    assert "wombat <script>alert(7)</script>" in text(page, "pre.text")
    assert client.get(f"/cached/page?url={quote(PLAIN)}").status_code == 404
    as_text = html(client, f"/cached?url={quote(LOOP)}&text=1")
    assert "asynchronous generator" in text(as_text, "pre.text")


@pytest.mark.parametrize(
    ("url", "status", "says"),
    [
        (NO_COPY, 404, "asks that no copies of it are shown"),
        (NO_COPY_HEADER, 404, "asks that no copies of it are shown"),
        ("https://docs.example/unknown", 404, "is not in the index"),
        ("javascript:alert(1)", 404, "javascript"),
        ("", 400, "add ?url="),
    ],
)
def test_what_has_no_copy_is_said(client: TestClient, url: str, status: int, says: str) -> None:
    for path in ("/cached", "/cached/page"):
        answer = client.get(path, params={"url": url})
        assert (answer.status_code, says in answer.text) == (status, True), answer.text


def test_a_page_without_its_like_has_no_similar_pages(client: TestClient) -> None:
    assert client.get("/similar", params={"url": LOOP}).status_code == 404


def test_similar_pages_are_listed_up_to_a_limit(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    like = ["javascript:alert(1)", *(f"https://like.example/{number}" for number in range(MAX_SIMILAR + 5))]
    monkeypatch.setattr(
        "crawlctl.pipeline.serve.archived_copy.StoredPages.similar", lambda _pages, _url: iter(like)
    )
    page = html(client, f"/similar?url={quote(LOOP)}")
    assert len(page.css(".list li")) == MAX_SIMILAR
    assert links(page, ".list a") == like[1:MAX_SIMILAR]
    assert f"the first {MAX_SIMILAR} are shown" in text(page, "main")


def test_what_strangers_wrote_is_shown_and_does_nothing(client: TestClient) -> None:
    copy = f"/cached?url={quote(CANONICAL, safe='')}"
    for path in ("/search?q=hostile", "/why?q=hostile&n=1", copy, copy + "&text=1", "/about"):
        answer = client.get(path)
        assert answer.status_code == 200
        page = LexborHTMLParser(answer.text)
        assert page.css(f"{OTHER_SCRIPTS}, img, [onerror], [onmouseover], [style]") == []
        assert "60481729" not in answer.text, "no template is made of it"
        for node in page.css("a[href], iframe[src]"):
            target = node.attributes.get("href") or node.attributes.get("src") or ""
            assert urlsplit(target).scheme in ("", "http", "https")
    assert ESCAPED in client.get("/search?q=hostile").text


def test_what_the_visitor_writes_is_escaped(client: TestClient) -> None:
    attack = "\"><script>alert(1)</script>'onload='x"
    for path in ("/search", "/why", "/cached", "/similar", "/nowhere"):
        for parameter in ("q", "url", "sort", "page", "n"):
            answer = client.get(path, params={"q": "loop", "url": LOOP, parameter: attack})
            assert answer.status_code in (200, 400, 404)
            assert LexborHTMLParser(answer.text).css(f"{OTHER_SCRIPTS}, [onload]") == []


@pytest.mark.parametrize("path", PATHS)
def test_pages_load_nothing_but_our_own_style_and_icon(client: TestClient, path: str) -> None:
    page = LexborHTMLParser(client.get(path).text)
    assert links(page, "link[rel=stylesheet], link[rel=icon]") == ["/static/style.css", "/static/icon.svg"]
    assert page.css(f"{OTHER_SCRIPTS}, style, [style], img") == []


def test_the_style_keeps_its_budget_and_asks_nobody_else(client: TestClient) -> None:
    style = client.get("/static/style.css")
    assert style.headers["content-type"] == "text/css; charset=utf-8"
    assert len(style.content) <= MAX_CSS
    assert not re.search(r"url\(|@import|@font-face", style.text)
    assert "prefers-color-scheme: dark" in style.text
    again = client.get("/static/style.css", headers={"If-None-Match": style.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_script_keeps_its_budget_and_makes_no_html(client: TestClient) -> None:
    script = client.get("/static/search.js")
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    assert len(script.content) <= MAX_JS
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|https?://", script.text)


def test_a_browser_learns_how_to_search_here(client: TestClient) -> None:
    answer = client.get("/opensearch.xml")
    assert answer.headers["content-type"] == "application/opensearchdescription+xml"
    assert 'template="http://localhost/search?q={searchTerms}"' in answer.text


def test_every_example_of_the_help_is_understood(client: TestClient) -> None:
    examples = links(html(client, "/help"), "table a")
    assert len(examples) == sum(len(operator.examples) for operator in OPERATORS)
    for path in examples:
        assert client.get(path).status_code == 200, path


def test_without_a_query_the_start_page_is_shown(client: TestClient) -> None:
    for path in ("/search", "/search?q=+", "/why?q="):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")


QUERIES = st.one_of(
    st.text(max_size=60),
    st.text(alphabet='ab OR"()*:-+.1 NOTsite', max_size=40),
    st.lists(
        st.sampled_from(["loop", "OR", "AND", "NOT", '"', "(", ")", "title:", "site:", "z*", "1..9"])
    ).map(" ".join),
)


@given(query=QUERIES, page=st.text(max_size=4), sort=st.sampled_from(["", "score", "date", "x"]))
@example(query="\ud800", page="", sort="")
@example(query="a" * 501, page="", sort="")
@example(query="loop", page="9" * 30, sort="")
@example(query="loop", page="²", sort="")
@example(query="\0", page="-1", sort="")
def test_any_query_is_answered_or_refused(client: TestClient, query: str, page: str, sort: str) -> None:
    """Never an error of the server: TestClient would raise it here."""
    query = query.encode("utf-8", "surrogatepass").decode("latin-1")
    for path in ("/search", "/why", "/api/search"):
        parameters = {"q": query, "page": page, "n": page, "offset": page, "sort": sort}
        assert client.get(path, params=parameters).status_code in (200, 303, 400)


@pytest.mark.parametrize(
    ("path", "status", "heading", "why"),
    [
        ("/search?q=" + "x" * 501, 400, "This cannot be answered", "The query has 501 characters"),
        ("/search?q=%28%22", 400, "This query was not understood", "Expected a word"),
        ("/nowhere", 404, "Not found", "There is no such page here."),
        ("/search?q=" + "x" * 9000, 414, "This is too long", ""),
    ],
)
def test_people_read_why_they_get_no_answer_without_the_name_of_a_status(
    client: TestClient, path: str, status: int, heading: str, why: str
) -> None:
    page = html(client, path, status)
    assert text(page, "h1") == heading
    assert text(page, ".lead").startswith(why)
