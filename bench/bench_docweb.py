"""Rounds over real documentation: CPU, speed and memory, compared with Scrapy following links.

    python3 -m venv SCRAPY && SCRAPY/bin/pip install scrapy    # once; crawlctl does not need it
    python bench/bench_docweb.py --web FOLDER [--pages 5000] [--scrapy SCRAPY/bin/python]

The web is docweb: 22 hosts, 23,000 pages of Debian's documentation packages, served by nginx as a proxy (run
`docweb build FOLDER` once). crawlctl runs three rounds of at most --pages pages, with all that a round does
except the index merge and ranking: robots.txt, fetch, parse, archive, index runs, WebDB. Scrapy follows the
links of as many pages and keeps nothing: once breadth first, as crawlctl does, and once in its own order,
newest link first, which leads to other pages. Both run without delays; Scrapy has 32 connections, crawlctl 32
per task. We measure the user and system time of all processes, start-up included, and the pages that the
server has sent. Memory is the maximum that all processes held at one time, shared pages counted once (Linux).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clock import keep_byte_code

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCWEB = Path(__file__).resolve().parents[2] / "shared" / "docweb" / "docweb"
LIMIT = 600.0  # seconds per crawl at most
ROUNDS = 3  # the seeds, what they link to, and a large one
SAMPLING = 0.25
CRAWL_YAML = """
store: crawl
fetch: {{contact: bench@example.org, allowed_networks: [127.0.0.0/8], proxy: "{proxy}", connections: 32}}
politeness: {{delay: 0, response_factor: 0, connections_per_host: 0}}
scope: {{max_new_urls_per_page: 100000}}
round: {{max_time: 5m}}
index: {{merge_every: 1000}}
rank: {{every: null}}
"""
SPIDER = """
import scrapy
from scrapy.linkextractors import LinkExtractor

class Links(scrapy.Spider):
    name = "links"
    custom_settings = dict(
        ROBOTSTXT_OBEY=False, DOWNLOAD_DELAY=0, CONCURRENT_REQUESTS=32, CONCURRENT_REQUESTS_PER_DOMAIN=32,
        CLOSESPIDER_PAGECOUNT={pages}, {order}
        LOG_LEVEL="CRITICAL", TELNETCONSOLE_ENABLED=False, RETRY_TIMES=0, USER_AGENT="bench (+b@example.org)",
    )
    start_urls = open("seeds.txt").read().split()
    allowed_domains = sorted({{url.split("/")[2] for url in start_urls}})
    extract = LinkExtractor().extract_links

    def parse(self, response):
        if isinstance(response, scrapy.http.HtmlResponse):
            for link in self.extract(response):
                yield response.follow(link, self.parse)
"""
BREADTH_FIRST = """DEPTH_PRIORITY=1,
        SCHEDULER_DISK_QUEUE="scrapy.squeues.PickleFifoDiskQueue",
        SCHEDULER_MEMORY_QUEUE="scrapy.squeues.FifoMemoryQueue",
"""
ORDERS = {"breadth first": BREADTH_FIRST, "its own order": ""}
SENT = re.compile(r'"GET (?!\S*/robots\.txt )\S+ HTTP/1\.1" 200 (\d+)')


class Cost(NamedTuple):
    """The cost of a crawl: CPU and wall time in seconds, memory in MB, pages and bytes sent."""

    cpu: float
    seconds: float
    memory: float
    pages: int
    bytes: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--web", type=Path, required=True, help="the folder that docweb was built in")
    parser.add_argument("--docweb", type=Path, default=DOCWEB, help="its script")
    parser.add_argument("--pages", type=int, default=5000, help="most pages of a round")
    parser.add_argument("--scrapy", default="", help="a Python that has Scrapy; left out without one")
    arguments = parser.parse_args()
    keep_byte_code()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serving(folder, arguments.docweb, arguments.web) as proxy:
            compare(folder, proxy, arguments.pages, arguments.scrapy)


def compare(folder: Path, proxy: str, pages: int, scrapy: str) -> None:
    (folder / "crawl.yaml").write_text(CRAWL_YAML.format(proxy=proxy), encoding="ascii")
    run = [sys.executable, "-m", "crawlctl.cli", "run"]
    ours = crawl(
        folder, proxy, [*run, "--seed", "seeds.txt", "--iterations", str(ROUNDS), "--pages", str(pages)]
    )
    print(f"{'':24}{'pages':>7}{'kB/page':>9}{'CPU-s/1000':>12}{'pages/s':>9}{'MB':>7}")
    report(f"crawlctl, {ROUNDS} rounds", ours)
    for name, order in ORDERS.items() if scrapy else ():
        (folder / "links.py").write_text(SPIDER.format(pages=ours.pages, order=order), encoding="ascii")
        theirs = crawl(folder, proxy, [scrapy, "-m", "scrapy", "runspider", "links.py"])
        report(f"scrapy, {name}", theirs)
        less = theirs.cpu / theirs.pages / (ours.cpu / ours.pages)
        faster = ours.pages / ours.seconds / (theirs.pages / theirs.seconds)
        print(f"    crawlctl takes {less:.1f} times less CPU a page and has {faster:.1f} times the pages/s")
    (folder / "seeds.txt").write_text((folder / "seeds.txt").read_text().splitlines()[0])
    one = crawl(folder, proxy, [*run, "--store", "small", "--seed", "seeds.txt", "--pages", "1"])
    print(f"a round of {one.pages} page: {one.cpu:.2f} CPU-s, {one.seconds:.2f} s, {one.memory:.0f} MB")


def report(client: str, cost: Cost) -> None:
    cpu, rate = 1000 * cost.cpu / cost.pages, cost.pages / cost.seconds
    size = cost.bytes / cost.pages / 1000
    print(f"{client:24}{cost.pages:7}{size:9.1f}{cpu:12.2f}{rate:9.0f}{cost.memory:7.0f}", flush=True)


def crawl(folder: Path, proxy: str, command: list[str]) -> Cost:
    before = sent(folder)
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "http_proxy": proxy, "no_proxy": ""},
        start_new_session=True,
    )
    cpu, memory = wait(process, started + LIMIT)
    seconds = time.perf_counter() - started
    time.sleep(0.5)  # nginx writes its log after the answer
    pages, size = (after - first for after, first in zip(sent(folder), before, strict=True))
    return Cost(cpu, seconds, memory, pages, size)


def wait(process: subprocess.Popen[bytes], deadline: float) -> tuple[float, float]:
    """Wait for the end of a crawl; return its CPU seconds and its greatest memory in MB."""
    peak = 0.0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            break
        if time.perf_counter() > deadline:
            os.killpg(process.pid, signal.SIGKILL)
            raise SystemExit(f"{process.args!r} was not done in {LIMIT:.0f} s; choose fewer --pages")
        peak = max(peak, held(process.pid))
        time.sleep(SAMPLING)
    if process.returncode:
        raise SystemExit(f"{process.args!r} failed with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, peak


def held(session: int) -> float:
    """Return the megabytes that the processes of a session hold together."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.getsid(int(folder.name)) == session:
                share = re.search(r"^Pss:\s+(\d+)", (folder / "smaps_rollup").read_text(), re.M)
                total += int(share[1]) if share else 0
    return total / 1000


def sent(folder: Path) -> tuple[int, int]:
    """Return how many pages the server has sent so far, and their bytes."""
    log = folder / "access.log"
    sizes = [int(size) for size in SENT.findall(log.read_text())] if log.exists() else []
    return len(sizes), sum(sizes)


@contextlib.contextmanager
def serving(folder: Path, docweb: Path, web: Path) -> Iterator[str]:
    """Serve the web on its own port, with its own log; yield the address of the proxy."""
    own = folder / "web"
    own.mkdir()
    (own / "hosts").symlink_to((web / "hosts").resolve(strict=True))
    (own / ".built").touch()
    script = ["bash", str(docweb)]
    seeds = subprocess.run([*script, "seeds", str(own)], check=True, capture_output=True, text=True).stdout
    (folder / "seeds.txt").write_text("".join(line.split("\t")[1] + "\n" for line in seeds.splitlines()))
    port = free_port()
    environment = {**os.environ, "DOCWEB_ACCESS_LOG": str(folder / "access.log")}
    subprocess.run(
        [*script, "up", str(own), str(port)], check=True, env=environment, stdout=subprocess.DEVNULL
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        subprocess.run([*script, "down", str(own)], check=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    main()
