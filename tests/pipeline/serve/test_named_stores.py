"""A server with several crawls: their names, their paths, and the choice on the page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from selectolax.lexbor import LexborHTMLParser
from starlette.testclient import TestClient

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.serve.named_stores import named_stores
from crawlctl.pipeline.serve.web_app import create_app
from crawlctl.tests.pipeline.serve.served_web import LOOP
from crawlctl.tests.pipeline.serve.server_process import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.serve.served_crawl import ServedCrawl
    from crawlctl.pipeline.store.local.store import LocalStore


@pytest.fixture(scope="module")
def several(served: ServedCrawl) -> Iterator[TestClient]:
    options = replace(
        served.options, name="docs", others=(replace(served.options, name="blog"),)
    )  # the same crawl under two names
    with TestClient(create_app(options), "http://localhost", follow_redirects=False) as client:
        yield client


@pytest.mark.parametrize(
    ("texts", "stores"),
    [
        (["crawl"], [("", "crawl")]),
        (["s3://bucket/a=b"], [("", "s3://bucket/a=b")]),
        (["docs=crawl"], [("docs", "crawl")]),
        (["docs=s3://bucket/x", "b-1=/srv/b=c"], [("docs", "s3://bucket/x"), ("b-1", "/srv/b=c")]),
    ],
)
def test_stores_have_names_where_there_are_several(texts: list[str], stores: list[tuple[str, str]]) -> None:
    assert named_stores(texts) == stores


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["a", "b"], "--store a has no name; of several stores each needs one, as in --store docs=a"),
        (["x=a", "b"], "--store b has no name"),
        (["x=a", "x=b"], "two stores have the name x"),
        (["x/y=a", "b=c"], "--store x/y=a has no name"),
    ],
)
def test_a_store_without_a_name_of_its_own_is_refused(texts: list[str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        named_stores(texts)


def parsed(client: TestClient, path: str, status: int = 200) -> LexborHTMLParser:
    answer = client.get(path)
    assert answer.status_code == status, path
    return LexborHTMLParser(answer.text)


def test_the_page_lets_a_visitor_choose_and_keeps_the_query(several: TestClient) -> None:
    first = parsed(several, "/search?q=loop")
    (current,) = first.css(".stores [aria-current]")
    (other,) = first.css(".stores a")
    assert (current.text(), other.text(), other.attributes["href"]) == (
        "docs",
        "blog",
        "/in/blog/search?q=loop",
    )
    assert [node.attributes["href"] for node in parsed(several, "/").css(".stores a")] == ["/in/blog/"]


def test_all_links_of_a_crawl_stay_in_it(several: TestClient) -> None:
    seen, paths = set[str](), ["/in/blog/"]
    while paths:
        path = paths.pop()
        seen.add(path)
        page = parsed(several, path)
        nodes = "main :not(.stores) > a[href^='/'], main iframe, footer a, header > a, form, link[rel=search]"
        for node in page.css(nodes):
            found = node.attributes.get("href") or node.attributes.get("src") or node.attributes.get("action")
            assert found and found.startswith("/in/blog/"), found
        if path == "/in/blog/":
            paths += ["/in/blog/search?q=loop", "/in/blog/why?q=loop", f"/in/blog/cached?url={LOOP}"]
            paths += ["/in/blog/help", "/in/blog/about", "/in/blog/search?q=nothing+lang:fr"]
    assert len(seen) == 7


@pytest.mark.parametrize("path", ["/in/blog/api/search?q=*&limit=1", "/in/blog/api/sites?limit=1"])
def test_the_next_answer_of_the_api_is_of_the_same_crawl(path: str, several: TestClient) -> None:
    following = several.get(path).json()["next"]
    assert following.startswith(path.partition("?")[0])
    assert several.get(following).status_code == 200


def test_what_is_missing_in_a_crawl_is_told_in_its_own_page_or_in_json(several: TestClient) -> None:
    page = parsed(several, "/in/blog/search?q=loop+OR", 400)
    assert page.css("form[action='/in/blog/search']")
    assert [node.attributes["href"] for node in page.css(".stores a")] == ["/search?q=loop+OR"]
    assert several.get("/in/blog/search").headers["location"] == "/in/blog/"
    assert several.get("/in/blog/api/search?q=loop").json()["total"] == 1
    problem = several.get("/in/blog/api/search")
    assert (problem.status_code, problem.headers["content-type"]) == (400, "application/problem+json")
    assert several.get("/in/nowhere/").status_code == 404
    assert several.get("/in/blog/readyz").status_code == 200
    assert (
        'template="http://localhost/in/blog/search?q={searchTerms}"'
        in several.get("/in/blog/opensearch.xml").text
    )


def test_the_metrics_describe_every_crawl(several: TestClient) -> None:
    lines = several.get("/metrics").text.splitlines()
    assert {'crawlctl_pages{crawl="docs"} 30', 'crawlctl_pages{crawl="blog"} 30'} <= set(lines)


@pytest.mark.slow
def test_a_server_of_two_workers_serves_two_crawls(web_store: LocalStore) -> None:
    with serving(web_store, "--store", f"blog={web_store.uri}", "--workers", "2", name="docs") as server:
        assert server.line.startswith("60 pages of 2 crawls can be searched at http://127.0.0.1:")
        for path in ("/search?q=zebra", "/in/blog/search?q=zebra", "/in/blog/api/search?q=zebra", "/metrics"):
            assert server.get(path)[0] == 200, path
        status, start = server.get("/in/blog/")
        assert (status, "30 pages of 3 sites" in " ".join(start.split())) == (200, True)
