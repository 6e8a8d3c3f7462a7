from __future__ import annotations

from http.client import HTTPConnection
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.demo.resources import Resource
from crawlctl.pipeline.demo.web_server import AccessLog, SiteServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = Resource(b"a page", modified=1_700_000_000)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "access.log"


@pytest.fixture
def connection(log: Path) -> Iterator[HTTPConnection]:
    server = SiteServer(log=AccessLog(log))
    server.start({"/page": PAGE})
    client = HTTPConnection(*server.socket.getsockname())
    yield client
    client.close()
    server.shutdown()
    server.server_close()


def ask(
    connection: HTTPConnection, path: str, method: str = "GET", **headers: str
) -> tuple[int, bytes, str | None]:
    connection.request(method, path, headers={name.replace("_", "-"): text for name, text in headers.items()})
    answer = connection.getresponse()
    return answer.status, answer.read(), answer.headers["Content-Length"]


def test_a_connection_serves_many_requests(connection: HTTPConnection, log: Path) -> None:
    assert ask(connection, "/page") == (200, b"a page", "6")
    socket = connection.sock
    assert ask(connection, "/page", "HEAD") == (200, b"", "6")
    assert ask(connection, "/page", If_None_Match=PAGE.etag) == (304, b"", None)
    assert ask(connection, "/else")[0] == 404
    assert ask(connection, "/page?query")[0] == 404
    assert connection.sock is socket
    urls = [f"http://127.0.0.1:{connection.port}/{path}" for path in ("page", "else", "page?query")]
    assert log.read_text().splitlines() == [
        f"200 {urls[0]}",
        f"200 {urls[0]}",
        f"304 {urls[0]}",
        f"404 {urls[1]}",
        f"404 {urls[2]}",
    ]


def test_a_method_it_does_not_know_is_refused(connection: HTTPConnection) -> None:
    assert ask(connection, "/page", "DELETE")[0] == 501
