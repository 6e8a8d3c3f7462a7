"""Open WebUI searches, and reads the pages that were crawled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.tests.pipeline.serve.served_web import LOOP, NO_COPY

if TYPE_CHECKING:
    from starlette.testclient import TestClient

KEY = {"Authorization": "Bearer any", "User-Agent": "Open WebUI"}


def test_a_search_gives_links_titles_and_snippets(client: TestClient) -> None:
    asked = {"query": "asynchronous (generator", "count": 3}
    (result,) = client.post("/api/open-webui/search", json=asked, headers=KEY).json()
    assert set(result) == {"link", "title", "snippet"}
    assert (result["link"], result["title"]) == (LOOP, "The event loop")
    assert len(client.post("/api/open-webui/search", json={"query": "zebra", "count": 3}).json()) == 3


def test_pages_are_read_as_markdown_or_as_text_and_others_are_left_out(client: TestClient) -> None:
    asked = {"urls": [LOOP, "https://nowhere.example/", "no address", NO_COPY]}
    pages = client.post("/api/open-webui/load", json=asked, headers=KEY).json()
    assert [page["metadata"]["source"] for page in pages] == [LOOP, NO_COPY]
    assert pages[0]["metadata"] == {"source": LOOP, "title": "The event loop", "language": "en"}
    assert "## Running loops" in pages[0]["page_content"]
    assert pages[1]["page_content"] == "aardvark one"


def test_a_body_that_is_not_understood_is_a_problem(client: TestClient) -> None:
    for body in (b"", b"{", b'{"query": ""}', b"\xff", b'{"query": "\\ud800"}'):
        answer = client.post("/api/open-webui/search", content=body)
        assert answer.status_code == 400, body
        assert "not the JSON that is expected" in answer.json()["detail"]
    too_many = client.post("/api/open-webui/load", json={"urls": ["x"] * 21})
    assert "length <= 20" in too_many.json()["detail"]
