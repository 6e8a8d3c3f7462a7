"""The client of the protocol's own SDK finds the tools and calls them: in memory, over HTTP, on streams."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from starlette.testclient import TestClient

from crawlctl.cli import run
from crawlctl.pipeline.serve.agents.mcp_server import DESCRIPTIONS, mcp_server
from crawlctl.pipeline.serve.served_crawl import ServedCrawl, ServeOptions
from crawlctl.pipeline.serve.web_app import app_of
from crawlctl.tests.pipeline.serve.served_web import LOOP
from crawlctl.tests.pipeline.serve.server_process import serving

if TYPE_CHECKING:
    from crawlctl.pipeline.store.local.store import LocalStore

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


async def used(server: Any, **options: Any) -> None:
    """Connect, and use the tools as an agent does."""
    async with Client(server, **options) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(DESCRIPTIONS)
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        found = await client.call_tool("search", {"query": "asynchronous generator"})
        assert LOOP in said(found)
        assert "## Running loops" in said(await client.call_tool("read_page", {"url": LOOP}))
        assert "many.example" in said(await client.call_tool("list_sites", {}))
        assert "was read as" in said(await client.call_tool("explain", {"query": "loop", "number": 1}))
        wrong = await client.call_tool("search", {"query": "loop OR"})
        assert "expected a word" in said(wrong, is_error=True)
        missing = await client.call_tool("read_page", {"url": "https://nowhere.example/"})
        assert "is not in the index" in said(missing, is_error=True)


def said(result: Any, *, is_error: bool = False) -> str:
    assert result.is_error == is_error, result
    text: str = result.content[0].text
    return text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_tools_work_in_memory(served: ServedCrawl, mode: str) -> None:
    asyncio.run(used(mcp_server(served), mode=mode))


def asked(client: TestClient, **headers: str) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    return client.post("/mcp", json=body, headers={**HEADERS, **headers})


def test_there_is_no_such_address_unless_the_operator_wants_it(client: TestClient) -> None:
    assert asked(client).status_code == 404


def test_over_http_scripts_of_other_web_pages_are_refused(web_store: LocalStore) -> None:
    options = ServeOptions(web_store.uri, origins=("https://friend.example",), mcp=True)
    with TestClient(app_of(ServedCrawl(options)), "http://localhost") as client:
        answer = asked(client)
        assert [tool["name"] for tool in answer.json()["result"]["tools"]] == list(DESCRIPTIONS)
        allowed = asked(client, Origin="https://friend.example")
        assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (
            200,
            "https://friend.example",
        )
        assert client.options("/mcp", headers={"Origin": "https://friend.example"}).status_code == 204
        refused = asked(client, Origin="https://evil.example")
        assert (refused.status_code, refused.headers["content-type"]) == (403, "application/problem+json")
        assert asked(client, Host="evil.example").status_code == 421
        assert client.post("/mcp", content=b"x" * (65 << 10), headers=HEADERS).status_code == 413


@pytest.mark.slow
def test_the_tools_work_over_http(web_store: LocalStore) -> None:
    with serving(web_store, "--mcp", "--workers", "2") as server:
        asyncio.run(used(f"http://127.0.0.1:{server.port}/mcp"))
        server.process.terminate()  # a kill would leave the workers behind
        assert server.process.wait(timeout=60) == 0


@pytest.mark.slow
def test_the_tools_work_on_the_streams_of_the_command(web_store: LocalStore) -> None:
    command = ["-c", "import crawlctl.cli; crawlctl.cli.main()", "mcp", "--store", web_store.uri]
    asyncio.run(used(stdio_client(StdioServerParameters(command=sys.executable, args=command))))


def test_without_the_package_the_command_says_what_to_install(
    web_store: LocalStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert run(["mcp", "--store", web_store.uri]) == 2
    assert run(["serve", "--mcp", "--store", web_store.uri]) == 2
    message = "crawlctl: agents need a package that is not installed: pip install 'crawlctl[mcp]'\n"
    assert capsys.readouterr().err == 2 * message
