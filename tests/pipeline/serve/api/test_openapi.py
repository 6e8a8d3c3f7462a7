"""The description of the API is valid, and the answers are as it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from crawlctl.tests.pipeline.serve.served_web import LOOP

if TYPE_CHECKING:
    from starlette.testclient import TestClient

REQUESTS = {
    "/api/search": ("?q=zebra", "?q=loop&limit=1", "?q=nowhere", "?q=%22", "?limit=x"),
    "/api/document": (f"?url={quote(LOOP)}", "?url=http://nowhere.example/"),
    "/api/suggest": ("?q=eve", "?q=", "?q=eve&limit=9"),
    "/api/similar": (f"?url={quote(LOOP)}", "?url=http://nowhere.example/", "?url="),
    "/api/status": ("",),
    "/api/sites": ("", "?limit=1", "?limit=0"),
}


POSTED: dict[str, tuple[object, ...]] = {
    "/api/open-webui/search": ({"query": "loop", "count": 3}, {"query": "loop"}, {"count": 3}, []),
    "/api/open-webui/load": ({"urls": [LOOP, "x:y"]}, {"urls": [1]}, {"urls": ["x" * (64 << 10)]}),
}


@pytest.fixture(scope="module")
def description(client: TestClient) -> Any:
    return client.get("/api/openapi.json").json()


def test_it_is_valid_openapi(description: Any) -> None:
    validate(description)
    assert description["openapi"].startswith("3.1.")
    assert set(description["paths"]) == {*REQUESTS, *POSTED}


@pytest.mark.parametrize("path", REQUESTS)
def test_answers_are_as_described(client: TestClient, description: Any, path: str) -> None:
    for query in REQUESTS[path]:
        check(description, description["paths"][path]["get"], client.get(path + query))


@pytest.mark.parametrize("path", POSTED)
def test_answers_to_bodies_are_as_described(client: TestClient, description: Any, path: str) -> None:
    for body in POSTED[path]:
        check(description, description["paths"][path]["post"], client.post(path, json=body))


def check(description: Any, operation: Any, answer: Any) -> None:
    response = operation["responses"][str(int(answer.status_code))]
    schema = response["content"][answer.headers["content-type"]]["schema"]
    Draft202012Validator({**schema, "components": description["components"]}).validate(answer.json())
