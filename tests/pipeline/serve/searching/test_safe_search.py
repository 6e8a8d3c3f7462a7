from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from crawlctl.pipeline.serve.served_crawl import ServedCrawl, ServeOptions
from crawlctl.pipeline.serve.web_app import app_of
from crawlctl.tests.pipeline.serve.served_web import write_web

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = 'index.explicit_words=["gore"]'
HOSTS = 'index.explicit_hosts=["late.example"]'


def page(title: str, text: str) -> tuple[bytes, str, str]:
    return f"<!doctype html><title>{title}</title><p>{text}</p>".encode(), "text/html", ""


PAGES = {
    "https://good.example/plain": page("A plain page", "an apple a day and the usual words of a page"),
    "https://good.example/little": page("A tale", "an apple and once a little gore in the whole text"),
    "https://good.example/much": page("A film", "apple gore and then more gore, and yet again gore"),
    "https://late.example/": page("Late", "an apple at night for grown people only"),
    **{f"https://good.example/pear{n}": page(f"Pear {n}", f"pear number {n} {'pip ' * n}") for n in range(9)},
    "https://good.example/pears": page("Pears", "pear gore gore gore in one more page of pears"),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder: Path = tmp_path_factory.mktemp("explicit")
    served = ServedCrawl(ServeOptions(write_web(folder, PAGES, WORDS, HOSTS).uri))
    with TestClient(app_of(served), "http://localhost") as client:
        yield client


def found(client: TestClient, query: str) -> dict[str, Any]:
    answer: dict[str, Any] = client.get(f"/api/search?q={query}").raise_for_status().json()
    return answer


@pytest.mark.parametrize(
    ("safe", "pages", "hidden"),
    [
        ("off", {"plain", "little", "much", ""}, 0),
        ("moderate", {"plain", "little"}, 2),
        ("", {"plain", "little"}, 2),
        ("strict", {"plain"}, 3),
    ],
)
def test_pages_are_left_out_by_how_explicit_they_are(
    client: TestClient, safe: str, pages: set[str], hidden: int
) -> None:
    answer = found(client, f"apple&safe={safe}")
    assert {one["url"].rpartition("/")[2] for one in answer["results"]} == pages
    assert (answer["total"], answer["hidden"]) == (len(pages), hidden)


def test_a_visitor_is_told_if_more_than_a_fifth_is_left_out(client: TestClient) -> None:
    assert found(client, "apple")["notices"] == [
        "safe search has left out 2 of 4 pages that match; safe=off shows them"
    ]
    shown = client.get("/search?q=apple").text
    assert "Safe search has left out 2 of 4 pages that match" in shown
    assert 'href="/search?q=apple&amp;safe=off"' in shown
    few = found(client, "pear")
    assert (few["hidden"], few["notices"]) == (1, [])
    assert "Safe search has left out" not in client.get("/search?q=pear").text


def test_pages_that_are_all_left_out_are_told_of(client: TestClient) -> None:
    shown = client.get("/search?q=grown").text
    assert "Safe search has left out 1 of 1 page that matches" in shown


def test_the_choice_stays_for_the_next_query_and_page(client: TestClient) -> None:
    shown = client.get("/search?q=apple&safe=strict").text
    assert '<input type="hidden" name="safe" value="strict">' in shown
    assert '<span aria-current="true">strict</span>' in shown
    assert "safe=strict" in found(client, "pear&safe=strict&limit=5")["next"]


def test_facets_and_feeds_leave_the_same_pages_out(client: TestClient) -> None:
    assert "late.example" not in client.get("/search?q=apple").text
    assert "late.example" not in client.get("/rss?q=apple").text
    assert "late.example" in client.get("/rss?q=apple&safe=off").text


def test_searxng_says_it_by_number(client: TestClient) -> None:
    counts = [
        client.get(f"/search?q=apple&format=json&safesearch={level}").json()["number_of_results"]
        for level in (0, 1, 2)
    ]
    assert counts == [4, 2, 1]
    assert client.get("/search?q=apple&format=json&safesearch=3").status_code == 400


def test_no_such_choice(client: TestClient) -> None:
    assert client.get("/api/search?q=apple&safe=none").json()["detail"].startswith("safe must be off")


def test_a_crawl_without_lists_offers_no_choice(web_store: Any) -> None:
    with TestClient(app_of(ServedCrawl(ServeOptions(web_store.uri))), "http://localhost") as client:
        assert "Safe search" not in client.get("/search?q=loop").text
