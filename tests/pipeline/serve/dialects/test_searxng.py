"""Clients of SearXNG find here what they find there; the fields are those of SearXNG's documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import yaml

from crawlctl.tests.pipeline.serve.served_web import LOOP, NUMBERED, UNSPOKEN

if TYPE_CHECKING:
    from starlette.testclient import TestClient


def asked(client: TestClient, path: str = "/search", **parameters: str) -> Any:
    answer = client.get(path, params={"format": "json", **parameters})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    return answer.json()


def test_an_answer_has_the_fields_that_clients_read(client: TestClient) -> None:
    found = asked(client, q="asynchronous generator")
    assert {name for name, value in found.items() if isinstance(value, list)} == {
        "results",
        "answers",
        "corrections",
        "infoboxes",
        "suggestions",
        "unresponsive_engines",
    }
    assert (found["query"], found["number_of_results"]) == ("asynchronous generator", 1)
    (result,) = found["results"]
    assert (result["url"], result["title"], result["engine"]) == (LOOP, "The event loop", "crawlctl")
    assert "call the loop" in result["content"]
    assert result["publishedDate"] == "2020-03-04T00:00:00"
    assert result["parsed_url"] == ["https", "docs.example", "/guide/loop.html", "", "", ""]


@pytest.mark.parametrize("path", ["/", "/search"])
def test_both_addresses_are_asked_with_both_methods(client: TestClient, path: str) -> None:
    read = asked(client, path, q="loop")
    posted = client.post(path, data={"q": "loop", "format": "json", "theme": "simple"})
    assert posted.json() == read and read["results"]


def test_pages_go_on_and_the_score_falls_with_the_place(client: TestClient) -> None:
    results = [one for page in ("1", "2", "3") for one in asked(client, q=UNSPOKEN, pageno=page)["results"]]
    assert len({one["url"] for one in results}) == NUMBERED
    scores = [one["score"] for one in results]
    assert scores == sorted(scores, reverse=True)
    assert [one["positions"] for one in results] == [[place] for place in range(1, NUMBERED + 1)]


def test_language_and_time_range_filter_the_whole_query(client: TestClient) -> None:
    every = asked(client, q="loop OR zebra", language="all")["number_of_results"]
    assert asked(client, q="loop OR zebra", language="en-US")["number_of_results"] == every > 1
    assert asked(client, q="loop OR zebra", language="fr")["number_of_results"] == 0
    assert asked(client, q="loop OR zebra", time_range="year")["number_of_results"] == 0


def test_a_text_that_is_no_query_is_read_as_words(client: TestClient) -> None:
    assert client.get("/api/search?q=event+OR").status_code == 400
    assert [one["url"] for one in asked(client, q="event (loop OR")["results"]] == [LOOP]
    assert asked(client, q="event (loop OR", language="en")["results"][0]["url"] == LOOP


def test_the_manual_tells_searxng_where_to_find_what(client: TestClient) -> None:
    manual = (Path(__file__).parents[4] / "docs" / "serve.md").read_text("utf-8")
    (stanza,) = re.findall(r"```yaml\n(engines:.*?)```", manual, re.DOTALL)
    (engine,) = yaml.safe_load(stanza)["engines"]
    asked = engine["search_url"].format(query=UNSPOKEN, pageno=3)
    results = client.get(urlsplit(asked)._replace(scheme="", netloc="").geturl()).json()[
        engine["results_query"]
    ]
    assert len(results) == NUMBERED % 10
    assert all(one[engine[f"{name}_query"]] for one in results for name in ("url", "title", "content"))


def test_a_better_spelling_is_a_correction(client: TestClient) -> None:
    assert asked(client, q="asynchronuos")["corrections"] == ["asynchronous"]


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({}, "the query is missing"),
        ({"q": "a", "pageno": "0"}, "pageno must be"),
        ({"q": "a", "language": "x y"}, "language must be"),
        ({"q": "a", "time_range": "hour"}, "time_range must be day, week, month, year"),
        ({"q": "?!"}, ""),
    ],
)
def test_a_problem_is_json(client: TestClient, parameters: dict[str, str], says: str) -> None:
    for answer in (
        client.get("/search", params={"format": "json", **parameters}),
        client.post("/search", data={"format": "json", **parameters}),
    ):
        assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
        assert says in answer.json()["detail"]


def test_a_foreign_host_is_refused_in_json(client: TestClient) -> None:
    answer = client.get("/search?format=json&q=a", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.headers["content-type"]) == (421, "application/problem+json")


def test_browsers_get_suggestions_in_their_form(client: TestClient) -> None:
    answer = client.get("/autocompleter?q=the+eve")
    assert answer.headers["content-type"] == "application/x-suggestions+json"
    assert answer.json() == ["the eve", ["The event loop", "the event"], [], []]
    script = client.get("/autocompleter?q=the+eve", headers={"X-Requested-With": "XMLHttpRequest"})
    assert script.json() == ["The event loop", "the event"]
