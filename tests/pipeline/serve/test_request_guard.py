"""What holds for every request, whatever it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.serve.request_guard import MAX_QUERY_STRING, host_name

if TYPE_CHECKING:
    from starlette.testclient import TestClient

PATHS = (
    "/",
    "/search?q=loop",
    "/nowhere",
    "/static/style.css",
    "/api/search?q=loop",
    "/api/nowhere",
    "/healthz",
)


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_the_headers_of_security(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["script-src"] == rules["connect-src"] == rules["style-src"] == "'self'"
    assert rules["require-trusted-types-for"] == "'script'" and rules["trusted-types"] == "'none'"
    assert "unsafe" not in policy and ":" not in policy, "no inline script or style, no other origin"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8080", 200),
        ("127.0.0.1:9", 200),
        ("[::1]:8080", 200),
        ("192.0.2.7", 200),
        ("search.example", 200),
        ("Search.Example.:443", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost:x", 421),
        ("", 421),
    ],
)
def test_only_addresses_and_allowed_names_are_answered(client: TestClient, host: str, status: int) -> None:
    answer = client.get("/healthz", headers={"Host": host})
    assert answer.status_code == status
    assert ("--allow-host" in answer.text) == (status == 421)


def test_the_name_of_a_host_is_without_port_and_brackets() -> None:
    assert [host_name(one) for one in ("A.b:80", "[::1]:80", "[::1]", "a.b.")] == ["a.b", "::1", "::1", "a.b"]


def test_a_very_long_address_is_refused(client: TestClient) -> None:
    assert client.get(f"/?{'x' * (MAX_QUERY_STRING + 1)}").status_code == 414


def test_scripts_of_allowed_origins_may_read_the_api_alone(client: TestClient) -> None:
    def allowed(path: str, origin: str) -> str | None:
        answer: str | None = client.get(path, headers={"Origin": origin}).headers.get(
            "access-control-allow-origin"
        )
        return answer

    assert allowed("/api/search?q=loop", "https://friend.example") == "https://friend.example"
    assert allowed("/api/search", "https://friend.example") == "https://friend.example", "also its problems"
    assert allowed("/api/search?q=loop", "https://evil.example") is None
    assert allowed("/search?q=loop", "https://friend.example") is None


def test_other_methods_and_paths_are_refused_without_a_trace(client: TestClient) -> None:
    answer = client.post("/search", data={"q": "loop"})
    assert (answer.status_code, set(answer.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})
    assert "there is no such page here" in client.get("/nowhere").text.lower()
    assert client.head("/search?q=loop").content == b""
