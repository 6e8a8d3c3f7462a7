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


@pytest.fixture(scope="module")
def description(client: TestClient) -> Any:
    return client.get("/api/openapi.json").json()


def test_it_is_valid_openapi(description: Any) -> None:
    validate(description)
    assert description["openapi"].startswith("3.1.")
    assert set(description["paths"]) == set(REQUESTS)


@pytest.mark.parametrize("path", REQUESTS)
def test_answers_are_as_described(client: TestClient, description: Any, path: str) -> None:
    for query in REQUESTS[path]:
        answer = client.get(path + query)
        response = description["paths"][path]["get"]["responses"][str(answer.status_code)]
        schema = response["content"][answer.headers["content-type"]]["schema"]
        whole = {**schema, "components": description["components"]}
        Draft202012Validator(whole).validate(answer.json())
