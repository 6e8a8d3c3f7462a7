"""What holds for every request, whatever it asks for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from crawlctl.pipeline.serve.limits.token_buckets import TokenBuckets
from crawlctl.pipeline.serve.metrics import Metrics
from crawlctl.pipeline.serve.request_guard import MAX_QUERY_STRING, RequestGuard, host_name
from crawlctl.pipeline.serve.served_crawl import ServedCrawl, ServeOptions
from crawlctl.pipeline.serve.web_app import app_of, refusal

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from crawlctl.pipeline.store.local.store import LocalStore

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


def test_a_browser_may_ask_what_scripts_of_an_allowed_origin_may_send(client: TestClient) -> None:
    asked = {"Origin": "https://friend.example", "Access-Control-Request-Method": "GET"}
    answer = client.options("/api/search", headers=asked)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (204, asked["Origin"])
    assert "If-None-Match" in answer.headers["access-control-allow-headers"]
    assert "Link" in answer.headers["access-control-expose-headers"]
    for path, origin in (("/api/search", "https://evil.example"), ("/search", "https://friend.example")):
        refused = client.options(path, headers={**asked, "Origin": origin})
        assert (refused.status_code, "access-control-allow-origin" in refused.headers) == (405, False)


def test_a_client_that_asks_too_often_is_told_when_to_come_back(web_store: LocalStore) -> None:
    app = app_of(ServedCrawl(ServeOptions(web_store.uri, client_rate=0.4)))
    client = TestClient(app, "http://localhost", client=("192.0.2.1", 1))
    assert [client.get("/robots.txt").status_code for _ in range(3)] == [200, 200, 429]
    refused = client.get("/api/status")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "3")
    assert refused.json()["detail"] == "these are too many requests; ask more slowly"
    assert client.get("/healthz").status_code == 200, "what supervisors ask is free"
    other = TestClient(app, "http://localhost", client=("192.0.2.2", 1))
    assert other.get("/robots.txt").status_code == 200
    here = TestClient(app, "http://localhost", client=("127.0.0.1", 1))
    assert {here.get("/robots.txt").status_code for _ in range(5)} == {200}


def test_other_methods_and_paths_are_refused_without_a_trace(client: TestClient) -> None:
    answer = client.post("/search", data={"q": "loop"})
    assert (answer.status_code, set(answer.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})
    assert "there is no such page here" in client.get("/nowhere").text.lower()
    assert client.head("/search?q=loop").content == b""


@pytest.mark.parametrize("has_begun", [False, True])
def test_an_answer_that_the_end_of_the_server_breaks_off_is_refused_without_a_trace(has_begun: bool) -> None:
    sent: list[Message] = []

    async def unfinished(_scope: Scope, _receive: Receive, send: Send) -> None:
        if has_begun:
            await send({"type": "http.response.start", "status": 200})
        await asyncio.Event().wait()

    async def send(message: Message) -> None:
        sent.append(message)

    guard = RequestGuard(
        unfinished, hosts=(), origins=(), metrics=Metrics(""), buckets=TokenBuckets(0, ""), refusal=refusal
    )
    scope = {"type": "http", "method": "GET", "path": "/search", "query_string": b"q=loop"}
    scope["headers"] = [(b"host", b"localhost")]

    async def ended() -> None:
        request = asyncio.create_task(guard(scope, None, send))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        request.cancel()
        await request

    asyncio.run(ended())
    assert [message["status"] for message in sent if "status" in message] == [200 if has_begun else 503]
