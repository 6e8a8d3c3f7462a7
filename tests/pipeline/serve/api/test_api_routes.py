"""The API, as programs meet it."""

from __future__ import annotations

from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from crawlctl.pipeline.serve.api import api_answers, api_routes, search_cursor
from crawlctl.pipeline.serve.searching import search_request
from crawlctl.tests.pipeline.serve.served_web import LOOP, NO_COPY, NUMBERED, PAGES, UNSPOKEN

if TYPE_CHECKING:
    from starlette.testclient import TestClient


def json(client: TestClient, path: str) -> Any:
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    return answer.json()


def test_a_search_gives_results_with_spans_dates_and_section(client: TestClient) -> None:
    found = json(client, "/api/search?q=asynchronous+generator")
    assert (found["total"], found["partial"], found["next"]) == (1, 0, None)
    (result,) = found["results"]
    assert result["url"] == LOOP
    snippet = result["snippet"]
    assert [snippet["text"][start:end] for start, end in snippet["spans"]] == ["asynchronous", "generator"]
    assert result["section"] == {"title": "Running loops", "url": f"{LOOP}#running%20loops"}
    assert result["details"]["published"]["origin"] == "article:published_time"


def test_results_are_paged_by_links(client: TestClient) -> None:
    path, numbers = f"/api/search?q={UNSPOKEN}&limit=7&sort=date", list[int]()
    while path:
        answer = client.get(path)
        numbers += [one["number"] for one in answer.json()["results"]]
        path = answer.json()["next"] or ""
        assert answer.headers.get("link", "") == (f'<{path}>; rel="next"' if path else "")
    assert numbers == list(range(1, NUMBERED + 1))


def test_links_end_with_the_last_result_that_may_be_shown(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (api_answers, api_routes, search_cursor, search_request):
        monkeypatch.setattr(module, "MAX_RESULTS", 10)
    path, numbers = f"/api/search?q={UNSPOKEN}&limit=7", list[int]()
    while path:
        answer = json(client, path)
        numbers += [one["number"] for one in answer["results"]]
        path = answer["next"] or ""
    assert numbers == list(range(1, 11))


def test_a_feed_calls_itself_by_the_address_that_the_page_links_to(client: TestClient) -> None:
    path = "/rss?q=trees&amp;safe=off"
    assert path in client.get("/search?q=trees&safe=off").text
    feed = client.get(unescape(path)).text
    assert f'rel="self" type="application/rss+xml" href="http://localhost{path}"' in feed


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/api/search", 400, "add ?q="),
        ("/api/search?q=a&limit=101", 400, "limit must be a whole number from 1 to 100"),
        ("/api/search?q=a&sort=x", 400, "sort must be score or date"),
        ("/api/search?q=a&cursor=x", 400, "take `next` of an answer as it is"),
        ("/api/search?q=a&cursor=x&offset=1", 400, "give cursor or offset, not both"),
        ("/api/suggest?q=a&limit=9", 400, "limit must be a whole number from 1 to 8"),
        ("/api/similar", 400, "add ?url="),
        ("/api/similar?url=http://nowhere.example/", 404, "is not in the index"),
        ("/api/document", 400, "add ?url="),
        ("/api/document?url=http://nowhere.example/", 404, "is not in the index"),
        ("/api/document?url=x:y", 404, "x:y"),
        ("/api/similar?url=0", 404, "0"),
        (f"/api/document?url={quote(LOOP)}&format=pdf", 400, "format must be"),
        (f"/api/document?url={quote(NO_COPY)}&format=markdown", 404, "no copies"),
        ("/api/nowhere", 404, "no such page"),
    ],
)
def test_a_problem_says_what_is_wrong(client: TestClient, path: str, status: int, says: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    problem = answer.json()
    assert problem["status"] == status and says in problem["detail"]
    assert "caret" not in problem


def test_a_query_that_is_not_understood_comes_back_with_a_caret(client: TestClient) -> None:
    problem = client.get("/api/search?q=loop+OR").json()
    assert problem["title"] == "Bad Request"
    query, caret = problem["caret"].splitlines()
    assert query.strip() == "loop OR"
    assert caret.strip() == "^"


def test_a_document_is_read_as_json_text_and_markdown(client: TestClient) -> None:
    path = f"/api/document?url={quote(LOOP)}"
    document = json(client, path)
    assert (document["title"], document["language"]) == ("The event loop", "en")
    assert document["sections"][-1] == {"title": "Running loops", "url": f"{LOOP}#running%20loops"}
    text = client.get(path + "&format=text")
    assert (text.text, text.headers["content-type"]) == (document["text"], "text/plain; charset=utf-8")
    markdown = client.get(path + "&format=markdown")
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "## Running loops" in markdown.text


def test_what_is_typed_is_completed(client: TestClient) -> None:
    found = json(client, "/api/suggest?q=the+eve")["suggestions"]
    assert found == [{"text": "The event loop", "kind": "title"}, {"text": "the event", "kind": "word"}]
    assert json(client, "/api/suggest?q=the+eve&limit=1")["suggestions"] == found[:1]
    assert json(client, "/api/suggest")["suggestions"] == []


def test_pages_without_a_like_have_an_empty_list(client: TestClient) -> None:
    assert json(client, f"/api/similar?url={quote(LOOP)}") == {"url": LOOP, "urls": [], "is_cut": False}


def test_similar_pages_are_those_that_searches_find(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [f"https://many.example/{number}" for number in range(NUMBERED)]
    like = [*many, "https://gone.example/"]
    monkeypatch.setattr("crawlctl.pipeline.serve.archived_copy.similar_to", lambda *_: iter(like))
    monkeypatch.setattr("crawlctl.pipeline.serve.api.api_routes.MAX_SIMILAR", NUMBERED)
    path = f"/api/similar?url={quote(LOOP)}"
    assert json(client, path) == {"url": LOOP, "urls": many, "is_cut": False}
    monkeypatch.setattr("crawlctl.pipeline.serve.api.api_routes.MAX_SIMILAR", 3)
    assert json(client, path) == {"url": LOOP, "urls": many[:3], "is_cut": True}


def test_status_and_sites_say_what_can_be_searched(client: TestClient) -> None:
    status = json(client, "/api/status")
    assert (status["pages"], status["sites"]) == (len(PAGES), 3)
    assert status["known_urls"] >= len(PAGES)
    about = " ".join(client.get("/about").text.split())
    assert f"The crawl knows {status['known_urls']} URLs, fetched or not." in about
    first = json(client, "/api/sites?limit=1")
    assert first["sites"] == [{"host": "many.example", "pages": NUMBERED}]
    following = json(client, first["next"])
    assert (following["total"], following["sites"][0]["host"]) == (3, "docs.example")
    assert json(client, "/api/sites?offset=3")["sites"] == []


@pytest.mark.parametrize(
    "path",
    [
        "/api/search?q=loop",
        "/api/suggest?q=loo",
        "/api/status",
        "/api/sites",
        f"/api/document?url={quote(LOOP)}",
        f"/api/similar?url={quote(LOOP)}",
    ],
)
def test_an_answer_of_the_same_snapshot_is_not_sent_again(client: TestClient, path: str) -> None:
    tag = client.get(path).headers["etag"]
    again = client.get(path, headers={"If-None-Match": f'"other", {tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
