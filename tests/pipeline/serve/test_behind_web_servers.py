"""The configurations of nginx and Caddy that docs/serve.md shows, run by these servers."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.tests.pipeline.serve.server_process import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.store.local.store import LocalStore

pytestmark = pytest.mark.integration

MANUAL = Path(__file__).parents[3] / "docs" / "serve.md"
NAME = "search.example.org"
FORBIDDEN = 403
MISDIRECTED = 421


def shown_in_manual(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", MANUAL.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def nginx(folder: Path, port: int, behind: int) -> list[str]:
    """Write the server of the manual, without HTTPS, into a whole configuration."""
    server = re.sub(r"\n *ssl_certificate[^\n]*", "", shown_in_manual("nginx"))
    server = server.replace("443 ssl", f"127.0.0.1:{port}").replace("127.0.0.1:8080", f"127.0.0.1:{behind}")
    paths = " ".join(
        f"{kind}_temp_path {folder};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    own = f"daemon off; pid {folder}/pid; error_log stderr; events {{}}"
    (folder / "conf").write_text(f"{own} http {{ access_log off; {paths} {server} }}")
    return ["nginx", "-p", str(folder), "-c", str(folder / "conf")]


def caddy(folder: Path, port: int, behind: int) -> list[str]:
    server = shown_in_manual("caddy").replace(f"{NAME} {{", f"http://{NAME}:{port} {{")
    server = server.replace("127.0.0.1:8080", f"127.0.0.1:{behind}")
    (folder / "conf").write_text(f"{{\n admin off\n auto_https off\n}}\n{server}")
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "conf")]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(command: list[str], port: int) -> Iterator[None]:
    """Run a web server from the moment on when it can be reached."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(200):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


def asked(port: int, path: str, host: str = NAME) -> tuple[int, str]:
    with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("GET", path, headers={"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


CONFIGURED = {"nginx": nginx, "caddy": caddy}


@pytest.mark.parametrize("program", CONFIGURED)
def test_the_manual_shows_how_to_serve_behind_it(web_store: LocalStore, tmp_path: Path, program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed (on Debian: apt install {program})")
    port = free_port()
    with (
        serving(web_store, "--allow-host", NAME) as server,
        running(CONFIGURED[program](tmp_path, port, server.port), port),
    ):
        status, page = asked(port, "/search?q=loop")
        assert (status, "The event" in page) == (200, True)
        assert asked(port, "/metrics")[0] == FORBIDDEN
        assert f"://{NAME}" in asked(port, "/opensearch.xml")[1], (
            "the name that the browser asked for is passed on"
        )
        if program == "nginx":
            assert asked(port, "/", "other.example")[0] == MISDIRECTED
