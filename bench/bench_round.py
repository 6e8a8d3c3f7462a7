"""A whole round: CPU per page and pages per second, compared with Scrapy following links.

    python bench/bench_round.py [--pages 4000] [--repeat 3] [--scrapy /path/to/venv/bin/python]

The web is the documentation that pydoc renders of the standard library, 48 kB per page with a menu of 100
links, spread over 16 addresses of loopback and served by nginx (apt install nginx-light). crawlctl fetches,
parses, archives, indexes and merges the WebDB by `crawlctl run --until-empty`, with two partitions; Scrapy
(in a virtual environment of its own: pip install scrapy) follows the links of the same pages with its
LinkExtractor and keeps nothing. Both obey robots.txt and make no pauses. We measure the user and system time
of all processes, start-up included, and the pages that the server has sent.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pydoc
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clock import keep_byte_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HOSTS = 16
NGINX = """
worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log {folder}/access.log; keepalive_requests 1000000; sendfile on; open_file_cache max=10000;
  types {{ text/html html; text/plain txt; }}
  server {{ listen {port}; root {folder}/web/$server_addr; }}
}}
"""
CRAWL_YAML = """
store: {store}
partitions: 2
fetch: {{contact: bench@example.org, allowed_networks: [127.0.0.0/8], connections: 64}}
politeness: {{delay: 0, response_factor: 0, connections_per_host: 0}}
scope: {{max_new_urls_per_page: 1000}}
"""
SPIDER = """
import sys
import scrapy
from scrapy.linkextractors import LinkExtractor

class Links(scrapy.Spider):
    name = "links"
    custom_settings = dict(
        ROBOTSTXT_OBEY=True, DOWNLOAD_DELAY=0, CONCURRENT_REQUESTS=64, CONCURRENT_REQUESTS_PER_DOMAIN=64,
        LOG_LEVEL="ERROR", TELNETCONSOLE_ENABLED=False, RETRY_TIMES=0, USER_AGENT="bench (+b@example.org)",
    )
    start_urls = open("seeds.txt").read().split()
    extract = LinkExtractor().extract_links

    def parse(self, response):
        for link in self.extract(response):
            yield response.follow(link, self.parse)
"""
LINK = re.compile(r'href="[A-Za-z_][^"]*')
MENU = 100


class Cost(NamedTuple):
    """The cost of a crawl: CPU and wall time in seconds, and the pages that the server sent."""

    cpu: float
    seconds: float
    pages: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--scrapy", default="", help="a Python that has Scrapy; left out without one")
    arguments = parser.parse_args()
    keep_byte_code()
    clients = {"crawlctl": crawlctl_commands, **({"scrapy": scrapy_commands} if arguments.scrapy else {})}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # nginx's worker may be another user
        port = free_port()
        pages = write_web(folder / "web", arguments.pages // HOSTS, port)
        seeds = "".join(f"http://127.0.0.{1 + host}:{port}/index.html\n" for host in range(HOSTS))
        (folder / "seeds.txt").write_text(seeds, encoding="ascii")
        print(f"{pages} pages on {HOSTS} hosts")
        with serving(folder, port):
            for client, commands in clients.items():
                runs = [crawl(folder, commands(folder, arguments.scrapy)) for _ in range(arguments.repeat)]
                report(client, runs)


def report(client: str, runs: list[Cost]) -> None:
    cpu = statistics.median(1000 * run.cpu / run.pages for run in runs)
    rate = statistics.median(run.pages / run.seconds for run in runs)
    pages = ", ".join(str(run.pages) for run in runs)
    print(f"{client:10}{cpu:8.2f} CPU ms a page{rate:8.0f} pages/s   (pages: {pages})", flush=True)


def crawlctl_commands(folder: Path, _scrapy: str) -> list[list[str]]:
    shutil.rmtree(folder / "crawl", ignore_errors=True)
    (folder / "crawl.yaml").write_text(CRAWL_YAML.format(store=folder / "crawl"), encoding="ascii")
    crawlctl = [sys.executable, "-m", "crawlctl.cli"]
    return [[*crawlctl, "init"], [*crawlctl, "run", "--seed", "seeds.txt", "--until-empty"]]


def scrapy_commands(folder: Path, scrapy: str) -> list[list[str]]:
    (folder / "links.py").write_text(SPIDER, encoding="ascii")
    return [[scrapy, "-m", "scrapy", "runspider", "links.py"]]


def crawl(folder: Path, commands: list[list[str]]) -> Cost:
    log = folder / "access.log"
    before = pages_sent(log)
    started, cpu = time.perf_counter(), 0.0
    for command in commands:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{command} failed with status {status}")
        cpu += usage.ru_utime + usage.ru_stime
    seconds = time.perf_counter() - started
    time.sleep(0.2)  # nginx writes its log after the answer
    return Cost(cpu, seconds, pages_sent(log) - before)


def pages_sent(log: Path) -> int:
    return sum('.html HTTP/1.1" 200' in line for line in log.read_text().splitlines()) if log.exists() else 0


def write_web(folder: Path, pages_per_host: int, port: int) -> int:
    """Write the pages of all hosts, each with an index that links to its own pages and to the next host."""
    documents = dict(rendered(pages_per_host))
    for host in range(HOSTS):
        home = folder / f"127.0.0.{1 + host}"
        home.mkdir(parents=True)
        for name, html in documents.items():
            # Equal pages on other hosts would be duplicates and would not be indexed.
            (home / f"{name}.html").write_text(f"{html}<p>{name} on host {host}</p>", encoding="utf-8")
        following = f'<a href="http://127.0.0.{1 + (host + 1) % HOSTS}:{port}/index.html">next</a>'
        front = f"<title>host {host}</title>{menu(documents)}{following}"
        (home / "index.html").write_text(front, encoding="utf-8")
    return HOSTS * (len(documents) + 1)


def rendered(limit: int) -> Iterator[tuple[str, str]]:
    """Yield `count` names and pages of modules; if there are too few, copies under other names."""
    pages: dict[str, str] = {}
    for name in sorted(sys.stdlib_module_names):
        if not name.startswith(("_", "this", "antigravity", "idle")):
            with contextlib.suppress(Exception), contextlib.redirect_stdout(None):
                module, _ = pydoc.resolve(name)
                page = pydoc.html.page(name, pydoc.html.document(module, name))
                pages[name] = LINK.sub('href="#', page)
    names = [f"{name}_{copy}" for copy in range(-(-limit // len(pages))) for name in pages][:limit]
    for number, name in enumerate(names):
        around = [names[(number + step) % len(names)] for step in range(1, 1 + MENU)]
        yield name, pages[name.rpartition("_")[0]] + menu(around)


def menu(names: Iterable[str]) -> str:
    items = "".join(f'<li><a href="{name}.html">{name}</a>' for name in names)
    return f"<ul>{items}</ul>"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def serving(folder: Path, port: int) -> Iterator[None]:
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        raise SystemExit("nginx is not installed; apt install nginx-light")
    configuration = folder / "nginx.conf"
    configuration.write_text(NGINX.format(folder=folder, port=port), encoding="ascii")
    server = subprocess.Popen([nginx, "-c", str(configuration), "-e", str(folder / "error.log")])
    try:
        time.sleep(0.5)
        yield
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
