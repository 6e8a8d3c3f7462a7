"""Fetching: CPU per page and pages per second of our engine and of requests with threads.

    python bench/bench_fetch.py [--pages 10000] [--repeat 3]

The server is nginx (apt install nginx-light); it serves 300 pages of 23 kB on average from 16 addresses of
loopback. Without nginx a small asyncio server runs in a process of its own. The slow server answers after 0.1
to 0.5 s, as the web does. Each client runs in its own process, whose user and system time count from the
first request on; every status is checked. Figures are medians of the repeats.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import json
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from clock import measured

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = 300
HOSTS = 16
NGINX = """
worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 1000000; sendfile on; tcp_nopush on; open_file_cache max=1000;
  types {{ text/html html; }}
  server {{ listen {port}; root {folder}; }}
}}
"""


class Run(NamedTuple):
    """One line of the table: the client, its number of connections, and the server."""

    client: str
    concurrency: int
    server: str
    share: float  # of --pages, so that no run takes minutes


RUNS = (
    Run("engine", 64, "fast", 1.0),
    Run("engine", 256, "fast", 1.0),
    Run("requests", 64, "fast", 0.2),
    Run("engine", 64, "slow", 0.1),
    Run("engine", 512, "slow", 0.4),
    Run("requests", 64, "slow", 0.1),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        fetch_and_report(*arguments.only)
        return
    with tempfile.TemporaryDirectory() as folder, servers(Path(folder)) as ports:
        print(f"{'client':10}{'at once':>8} {'server':7}{'CPU ms a page':>14}{'pages/s':>9}")
        for run in RUNS:
            count = str(int(arguments.pages * run.share))
            results = [measure(run, ports[run.server], count) for _ in range(arguments.repeat)]
            cpu, rate = (statistics.median(column) for column in zip(*results, strict=True))
            print(f"{run.client:10}{run.concurrency:8} {run.server:7}{cpu:14.3f}{rate:9.0f}")


def measure(run: Run, port: int, count: str) -> tuple[float, float]:
    arguments = ["--only", run.client, str(run.concurrency), str(port), count]
    finished = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True)
    cpu, rate = json.loads(finished.stdout)
    return cpu, rate


def fetch_and_report(client: str, concurrency: str, port: str, count: str) -> None:
    """Fetch with one client and print milliseconds of CPU per page, and pages per second."""
    urls = [
        f"http://127.0.0.{1 + number % HOSTS}:{port}/p{number * 7 % PAGES}.html"
        for number in range(int(count))
    ]
    library, fetch = CLIENTS[client]
    importlib.import_module(library)
    received: list[int] = []
    times = measured(lambda: received.append(fetch(urls, int(concurrency))))
    assert received[0] > 1000 * len(urls)
    print(json.dumps([times.cpu * 1000 / len(urls), len(urls) / times.wall]))


def fetch_with_engine(urls: list[str], concurrency: int) -> int:
    from crawlctl.pipeline.config.settings import FetchSettings
    from crawlctl.pipeline.http.engine import Engine
    from crawlctl.pipeline.http.exchange import Request

    settings = FetchSettings(
        contact="https://example.org/bot", allowed_networks=("127.0.0.0/8",), connections=concurrency
    )
    received = 0
    with Engine(settings) as engine:
        for url in urls:
            engine.submit(Request(url))
        while engine.in_flight:
            for answer in engine.poll():
                assert answer.status == 200
                received += len(answer.body)
    return received


def fetch_with_requests(urls: list[str], concurrency: int) -> int:
    import threading
    from concurrent.futures import ThreadPoolExecutor

    import requests

    local = threading.local()

    def fetch(url: str) -> int:
        if not hasattr(local, "session"):
            local.session = requests.Session()
            local.session.mount("http://", requests.adapters.HTTPAdapter(pool_connections=HOSTS))
        answer = local.session.get(url, timeout=60)
        assert answer.status_code == 200
        return len(answer.content)

    with ThreadPoolExecutor(concurrency) as pool:
        return sum(pool.map(fetch, urls))


CLIENTS = {
    "engine": ("crawlctl.pipeline.http.engine", fetch_with_engine),
    "requests": ("requests", fetch_with_requests),
}


@contextlib.contextmanager
def servers(folder: Path) -> Iterator[dict[str, int]]:
    write_pages(folder)
    with contextlib.ExitStack() as stack:
        ports = {"fast": free_port(), "slow": free_port()}
        stack.enter_context(running(fast_server(folder, ports["fast"]), ports["fast"]))
        stack.enter_context(running(python_server(folder, ports["slow"], 0.1, 0.5), ports["slow"]))
        yield ports


def fast_server(folder: Path, port: int) -> list[str]:
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        print("no nginx: the server is Python, and pages/s are its limit")
        return python_server(folder, port, 0.0, 0.0)
    configuration = folder / "nginx.conf"
    configuration.write_text(NGINX.format(folder=folder, port=port), encoding="ascii")
    folder.chmod(0o755)  # its worker may be another user
    return [nginx, "-c", str(configuration), "-e", str(folder / "error.log")]


def python_server(folder: Path, port: int, shortest: float, longest: float) -> list[str]:
    code = f"import bench_fetch as b; b.serve({str(folder)!r}, {port}, {shortest}, {longest})"
    return [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); {code}"]


@contextlib.contextmanager
def running(command: list[str], port: int) -> Iterator[None]:
    with subprocess.Popen(command) as process:
        try:
            while True:
                with (
                    contextlib.suppress(ConnectionRefusedError),
                    socket.create_connection(("127.0.0.1", port)),
                ):
                    break
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


def serve(folder: str, port: int, shortest: float, longest: float) -> None:
    """Answer every request with its page, after a delay."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
    bodies = {path.name: path.read_bytes() for path in Path(folder).glob("*.html")}
    answers = {f"/{name}": head % len(body) + body for name, body in bodies.items()}

    class Connection(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = cast("asyncio.Transport", transport)

        def data_received(self, data: bytes) -> None:
            answer = answers[data.split(b" ", 2)[1].decode()]
            wait = random.uniform(shortest, longest)
            asyncio.get_running_loop().call_later(wait, self.transport.write, answer)

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Connection, "0.0.0.0", port, backlog=1000)
        await server.serve_forever()

    asyncio.run(run())


def write_pages(folder: Path) -> None:
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 10))) for _ in range(5000)]
    for number in range(PAGES):
        size = min(int(draw.lognormvariate(9.6, 0.9)), 200_000)
        text = " ".join(draw.choices(words, k=size // 7))
        (folder / f"p{number}.html").write_text(f"<html><title>{number}</title><p>{text}", encoding="ascii")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
