"""Load on `crawlctl serve`: searches per second, latency and CPU time, beside the same app with tantivy.

    python bench/bench_serve.py --store DIR [--rates 50,300,600] [--seconds 10] [--workers 2] [--path /search]

The load is open-loop: request i is sent at i / rate seconds, whether or not earlier ones were answered, and
its latency counts from that moment, so that queues show. Queries are real web queries, of which the words
stay that some page has, in an order by chance; there is no cache of results. The generator runs on the same
machine. CPU time is that of the server's processes, from /proc, per answer; what was refused is in it. It is
what a busy machine disturbs least. Other queries warm each server first.

tantivy (`pip install tantivy`) has the same documents as one stemmed field and makes its own snippets. Its
server is the same application with the one function that searches replaced, so what differs is the search.
It serves /api/search only, so that is the path by default.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote_plus

from bench_search import stored_documents, tantivy_index, words_of_queries

from crawlctl.pipeline.search.answer.snippets import MarkedText
from crawlctl.pipeline.serve.http_server import listen
from crawlctl.pipeline.serve.searching.found_results import Found, FoundResult
from crawlctl.pipeline.serve.served_crawl import ServeOptions
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.details.shown_details import ShownDetails
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from starlette.types import ASGIApp

TICKS = os.sysconf("SC_CLK_TCK")
WARM_QUERIES = 3000  # before anything is measured, so that caches are as full as those of a server at work
WARM_CLIENTS = 8  # that ask them, each after its last answer
PATIENCE = 30.0  # seconds until an answer counts as lost
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Run(NamedTuple):
    """What came back at one rate: seconds of each answer with 200, and how many others there were."""

    asked: int
    seconds: list[float]
    refused: int
    lost: int
    wall: float

    def line(self, name: str, rate: int, cpu: float, megabytes: float) -> str:
        """Return the figures as a line of the table."""
        spans, answered = sorted(self.seconds), len(self.seconds)
        p50, p99 = (1000 * spans[min(answered - 1, answered * of // 100)] for of in (50, 99))
        shares = f"{100 * self.refused / self.asked:5.1f} % {100 * self.lost / self.asked:5.1f} %"
        each = f"{1000 * cpu / answered:6.2f}"
        speed = f"{answered / self.wall:8.0f} {p50:8.1f} {p99:8.1f}"
        return f"{name:8} {rate:6} {speed} {shares} {each} {megabytes:7.0f}"


class Server(NamedTuple):
    """A running server: its port, and its first process."""

    port: int
    pid: int

    def processes(self) -> list[int]:
        """Return the process and its children, which are the workers."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid, *map(int, children)]

    def cpu_seconds(self) -> float:
        """Return the CPU time that all its processes have used so far."""
        fields = [
            Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in self.processes()
        ]
        return sum(int(one[11]) + int(one[12]) for one in fields) / TICKS

    def megabytes(self) -> float:
        """Return the memory of its largest process."""
        statuses = [Path(f"/proc/{pid}/status").read_text() for pid in self.processes()]
        sizes = [int(found[1]) for one in statuses if (found := re.search(r"VmRSS:\s+(\d+)", one))]
        return max(sizes) / 1000


@contextmanager
def running(command: Sequence[str]) -> Iterator[Server]:
    """Start a server that prints its address, and end it."""
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = _ADDRESS.search(process.stdout.readline())
            assert found is not None, "the server has not started"
            yield Server(int(found[1]), process.pid)
        finally:
            process.terminate()
            process.wait(20)


class Load:
    """An open-loop client: connections are kept, and as many are opened as answers are awaited."""

    def __init__(self, port: int, path: str) -> None:
        self._port = port
        self._path = path
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def run(self, queries: Sequence[str], rate: int, seconds: float) -> Run:
        """Ask queries at a rate for some seconds."""
        began, asked = time.perf_counter(), int(rate * seconds)
        tasks = []
        for number in range(asked):
            due = began + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(self._timed(queries[number % len(queries)], due)))
        answers = await asyncio.gather(*tasks)
        wall = max(seconds, time.perf_counter() - began)
        for _, writer in self._idle:
            writer.close()
        spans = [span for status, span in answers if status == 200]
        refused = sum(status == 503 for status, _ in answers)
        return Run(asked, spans, refused, asked - len(spans) - refused, wall)

    async def warm(self, queries: Sequence[str]) -> None:
        """Ask queries as fast as they are answered."""

        async def ask(some: Sequence[str]) -> None:
            for query in some:
                await self._ask(query)

        await asyncio.gather(*(ask(queries[start::WARM_CLIENTS]) for start in range(WARM_CLIENTS)))

    async def _timed(self, query: str, due: float) -> tuple[int, float]:
        try:
            status = await asyncio.wait_for(self._ask(query), PATIENCE)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            status = 0
        return status, time.perf_counter() - due

    async def _ask(self, query: str) -> int:
        if self._idle:
            reader, writer = self._idle.pop()
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(f"GET {self._path}?q={quote_plus(query)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        await reader.readexactly(int(length[1]) if length else 0)
        self._idle.append((reader, writer))
        return int(head[9:12])


def measure(
    name: str, server: Server, path: str, queries: list[str], rates: list[int], seconds: float
) -> None:
    warming, queries = queries[:WARM_QUERIES], queries[WARM_QUERIES:]
    asyncio.run(Load(server.port, path).warm(warming))
    for number, rate in enumerate(rates):
        start = number * len(queries) // len(rates)
        before = server.cpu_seconds()
        found = asyncio.run(Load(server.port, path).run(queries[start:] + queries[:start], rate, seconds))
        print(found.line(name, rate, server.cpu_seconds() - before, server.megabytes()), flush=True)


def tantivy_app(options: ServeOptions, folder: str) -> ASGIApp:
    """Return our application with tantivy behind it."""
    import tantivy

    from crawlctl.pipeline.serve.api import api_routes
    from crawlctl.pipeline.serve.web_app import create_app

    index = tantivy.Index.open(folder)
    api_routes.search = partial(tantivy_search, index, index.searcher())
    return create_app(options)


def tantivy_search(index: Any, searcher: Any, ours: Any, wanted: Any) -> Found:
    import tantivy

    began = time.perf_counter()
    query = index.parse_query(" ".join(tokens(wanted.text)), ["text"], conjunction_by_default=True)
    found = searcher.search(query, wanted.limit)
    marker = tantivy.SnippetGenerator.create(searcher, query, index.schema, "text")
    results = []
    for number, (score, address) in enumerate(found.hits, 1):
        document = searcher.doc(address)
        excerpt = marker.snippet_from_doc(document)
        spans = tuple((one.start, one.end) for one in excerpt.highlighted())
        snippet = MarkedText(excerpt.fragment(), spans)
        results.append(tantivy_result(number, document.get_first("title") or "", snippet, score))
    total = int(found.count)
    seconds = time.perf_counter() - began
    named = {"plain_words": ""} if "plain_words" in Found.__struct_fields__ else {}
    return Found(
        snapshot=ours.snapshot.number,
        read_as=wanted.text,
        total=total,
        partial=0,
        results=results,
        has_more=total > wanted.limit,
        notices=(),
        unknown=(),
        suggestion="",
        seconds=seconds,
        **named,
    )


def tantivy_result(number: int, title: str, snippet: MarkedText, score: float) -> FoundResult:
    return FoundResult(
        number=number,
        url="",
        link="",
        title=MarkedText(title),
        snippet=snippet,
        section=None,
        details=ShownDetails(),
        score=score,
        language="",
        fetched_at=0,
        last_modified=0,
        is_partial=False,
        is_fetched=True,
        similar=0,
        explanation=None,
    )


def serve_tantivy(store: str, folder: str, workers: int) -> None:
    from uvicorn import Config, Server
    from uvicorn.supervisors import Multiprocess

    options = ServeOptions(store)
    factory = partial(tantivy_app, options, folder)
    config = Config(
        factory,
        factory=True,
        workers=workers,
        lifespan="off",
        log_config=None,
        access_log=False,
        limit_concurrency=512,
    )
    with listen("127.0.0.1", 0) as listener:
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
        Multiprocess(config, [listener]).run() if workers > 1 else Server(config).run([listener])


def main() -> None:
    beside = Path(__file__).resolve().parents[2] / "shared/data/queries/terabyte05-efficiency.tsv.zst"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--queries", type=Path, default=beside)
    parser.add_argument("--rates", default="50,300,600", help="requests a second")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--path", default="/api/search")
    parser.add_argument("--no-tantivy", action="store_true")
    parser.add_argument("--tantivy-index", default="", help=argparse.SUPPRESS)  # serve it, in a child
    options = parser.parse_args()
    if options.tantivy_index:
        serve_tantivy(str(options.store), options.tantivy_index, options.workers)
        return
    documents = list(stored_documents(LocalStore(options.store)))
    known = {word for document in documents for word in set(tokens(document.text))}
    queries = [" ".join(words) for words in words_of_queries(options.queries, known) if words]
    random.Random(7).shuffle(queries)
    rates, store = [int(rate) for rate in options.rates.split(",")], str(options.store)
    print(f"{len(documents):,} documents, {len(queries):,} queries, {options.workers} workers")
    print("server     rate answers/s  p50 ms   p99 ms refused    lost CPU-ms  MB/worker")
    workers = ["--workers", str(options.workers)]
    ours = ["-m", "crawlctl", "serve", "--store", store, "--port", "0", "--client-rate", "0", *workers]
    with running(ours) as server:
        measure("ours", server, options.path, queries, rates, options.seconds)
    if options.no_tantivy or options.path != "/api/search":
        return
    with tempfile.TemporaryDirectory() as scratch:
        tantivy_index(Path(scratch) / "tantivy", documents)
        theirs = [__file__, "--store", store, "--tantivy-index", f"{scratch}/tantivy", *workers]
        with running(theirs) as server:
            measure("tantivy", server, options.path, queries, rates, options.seconds)


if __name__ == "__main__":
    main()
