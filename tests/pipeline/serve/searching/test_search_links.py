"""Links from a search to the same search with one thing changed: the same for long queries, in few bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote_plus, urlencode, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.serve.searching.search_links import LINK_BYTES, SearchLinks, is_short
from crawlctl.pipeline.serve.searching.search_request import MAX_CHARACTERS, SearchRequest, readable
from crawlctl.tests.pipeline.serve.served_web import NUMBERED, PAYLOAD, UNSPOKEN

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode
    from starlette.testclient import TestClient

MAX_HTML = 30_000  # bytes: the budget of a page
# Queries of the greatest length that find all numbered pages; of what else they ask for there is no page.
WORDS = ("слово", "語", "naïve", "\U0001d51e", '"x"', "क्षत्रिय", "q")
LONG = [f"{UNSPOKEN} OR " + " OR ".join([word] * 500) for word in WORDS]
QUERIES = [query[:MAX_CHARACTERS].rpartition(" OR ")[0] for query in LONG]


@given(st.text(max_size=MAX_CHARACTERS))
def test_addresses_keep_letters_readable_and_all_else_as_it_was(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    written = readable(text)
    assert unquote_plus(written) == text
    assert unquote_plus(quote(written, safe="%+")) == text  # as a browser sends it
    assert not set(written) & set(" \"'<>&#\t\n\u202e\u200b")


def test_a_link_to_a_short_query_has_it_in_its_address() -> None:
    links = SearchLinks(SearchRequest("été <b>", is_exact=True), "/in/x")
    assert links.is_short
    assert links.to("A & B", "sort", "date", spoken='by "date"') == (
        '<a href="/in/x/search?q=été+%3Cb%3E&amp;sort=date&amp;exact=1" rel="nofollow"'
        ' aria-label="by &#34;date&#34;">A &amp; B</a>'
    )
    assert links.to("x", "q", "y", rel="") == '<a href="/in/x/search?q=y">x</a>'
    assert not is_short("é" * LINK_BYTES)


def test_a_link_to_a_long_query_is_a_button_of_the_form_that_has_the_query() -> None:
    links = SearchLinks(SearchRequest("long " * 50), "/in/x")
    assert links.to("<why>", "n", 3, path="/why", kind="on") == (
        '<button form="again" formaction="/in/x/why" name="n" value="3" class="on">&lt;why&gt;</button>'
    )


def page_of(client: TestClient, path: str) -> LexborHTMLParser:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    assert len(answer.content) <= MAX_HTML
    return LexborHTMLParser(answer.text)


def sent(page: LexborHTMLParser, button: LexborNode) -> str:
    """Return the address that a browser asks for when a button of the page is pressed."""
    form = page.css_first(f"form#{button.attributes['form']}")
    assert form is not None
    fields = [*form.css("input"), button]
    path = button.attributes.get("formaction") or form.attributes["action"]
    stated = [(one.attributes["name"] or "", one.attributes["value"] or "") for one in fields]
    return f"{path}?{urlencode(stated)}"


def button_of(page: LexborHTMLParser, label: str) -> LexborNode:
    (found,) = [node for node in page.css("button[form=again]") if node.text() == label][:1]
    return found


@pytest.mark.parametrize("query", QUERIES, ids=WORDS)
def test_the_page_of_any_query_keeps_to_the_budget(client: TestClient, query: str) -> None:
    page = page_of(client, "/search?" + urlencode({"q": query, "all": 1}))
    assert len(page.css(".result")) == 10
    assert len(page.css("button[form=again]")) > 10
    assert page.css(".facts a[href*=why]") == []


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=MAX_CHARACTERS))
def test_no_text_makes_a_page_that_is_too_large(client: TestClient, text: str) -> None:
    answer = client.get("/search?" + urlencode({"q": text}))
    assert len(answer.content) <= MAX_HTML


@pytest.mark.parametrize("text", [PAYLOAD, "a " * 250, '" ' * 250, "site:x.example " * 30])
def test_odd_queries_too(client: TestClient, text: str) -> None:
    answer = client.get("/search?" + urlencode({"q": text[:MAX_CHARACTERS]}))
    assert len(answer.content) <= MAX_HTML


def test_buttons_of_a_long_query_do_what_its_links_would(client: TestClient) -> None:
    query = QUERIES[0][:300].rpartition(" OR ")[0]
    page = page_of(client, "/search?" + urlencode({"q": query}))
    some = f"{NUMBERED - 2} more on this site"
    more = client.get(sent(page, button_of(page, some)))
    assert more.status_code == 303
    assert urlsplit(more.headers["location"]).path == "/search"
    narrowed = page_of(client, more.headers["location"])
    box = narrowed.css_first("input#q")
    assert box is not None and box.attributes["value"] == f"({query}) site:many.example"
    undone = client.get(sent(narrowed, narrowed.css(".chosen button")[0]))
    assert parse_qsl(urlsplit(undone.headers["location"]).query) == [("q", f"({query})")]
    assert "Page 2" in client.get(sent(narrowed, button_of(narrowed, "Next ›"))).text
    assert "Its score" in client.get(sent(page, button_of(page, "why"))).text
    feed = client.get(sent(page, button_of(page, "New pages of this search as a feed (RSS)")))
    assert feed.headers["content-type"] == "application/rss+xml"


@pytest.mark.parametrize(("added", "status"), [("word", 303), ("", 303), ("(", 400), ("site:", 400)])
def test_a_change_that_is_no_filter_changes_nothing(client: TestClient, added: str, status: int) -> None:
    answer = client.get("/search?" + urlencode({"q": "loop", "add": added, "without": "lang:en"}))
    location = "/search?q=loop" if status == 303 else None
    assert (answer.status_code, answer.headers.get("location")) == (status, location)
