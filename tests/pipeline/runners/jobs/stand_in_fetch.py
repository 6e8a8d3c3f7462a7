"""A fetch job whose web is made up: it saves, adopts and reports runs as the real one does.

Page n links to pages 2n + 1 and 2n + 2, spread over a few hosts, and to one page all have in common.
All times are fixed, so that two crawls that did the same are equal.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.mrjob_light import MRJob, light_imports
from crawlctl.pipeline.orders import decode_order
from crawlctl.pipeline.politeness.host_state import HostState
from crawlctl.pipeline.progress.task_file import Progress, ProgressFile
from crawlctl.pipeline.state.journal import put_run, saved_runs
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry, encode_entry
from crawlctl.pipeline.state.snapshots import load_snapshot
from crawlctl.pipeline.store.open import open_store
from crawlctl.pipeline.urls.hosts import host_of, url_of_key, webdb_key
from crawlctl.pipeline.webdb.part import open_part
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, decode_entry, encode
from crawlctl.pipeline.webdb.row_files import open_table, write_table

with light_imports():
    from mrjob.protocol import BytesValueProtocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crawlctl.pipeline.store.base import Store

EPOCH = 1_700_000_000
HOSTS = 7
RUN_PAGES = 4
COMMON = "https://host0.example/common"


def page(number: int) -> str:
    return f"https://host{number % HOSTS}.example/{number}"


def links_of(url: str, pages: int) -> list[str]:
    if url == COMMON:
        return []
    number = int(url.rpartition("/")[2])
    return [COMMON, *(page(child) for child in (2 * number + 1, 2 * number + 2) if child < pages)]


class StandInFetch(MRJob):
    HADOOP_INPUT_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"
    INPUT_PROTOCOL = BytesValueProtocol
    OUTPUT_PROTOCOL = BytesValueProtocol

    def mapper(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        task = Task(decode_order(line, FetchOrder))
        task.fetch()
        yield from ((None, encode_entry(entry)) for entry in task.files)


class Idle(StandInFetch):
    """DiscoveredUrls every host closed."""

    def mapper(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        yield from ()


class Task:
    def __init__(self, order: FetchOrder) -> None:
        self.order = order
        self.store: Store = open_store(order.store)
        self.files = [entry for run in saved_runs(self.store, order.round, order.partition) for entry in run]
        adopted = [entry for entry in self.files if entry.kind == "outcomes"]
        self.done = {key for entry in adopted for key, _ in open_table(self.store, entry)}
        self.progress = ProgressFile(order.progress, order.partition)

    def fetch(self) -> None:
        keys = [key for key in self.due() if key not in self.done]
        room = max(self.order.max_pages - len(self.done), 0)
        for start in range(0, min(len(keys), room), RUN_PAGES):
            run = keys[start : min(start + RUN_PAGES, room)]
            log(*(f"fetched {url_of_key(key)}" for key in run))
            time.sleep(float(os.environ.get("PAGE_SECONDS", "0")) * len(run))
            self.save(run)
            self.progress.write(Progress(done=min(start + RUN_PAGES, room), bytes=1000 * start, errors=1))

    def due(self) -> Iterator[bytes]:
        part = open_part(self.store, load_snapshot(self.store, self.order.snapshot), self.order.partition)
        for block in part.blocks() if part else ():
            for key, value in zip(block.keys, block.values, strict=True):
                if decode_entry(value).next_due <= time.time():
                    yield key

    def save(self, keys: list[bytes]) -> None:
        when = EPOCH + self.order.round
        urls = [url_of_key(key) for key in keys]
        pages = int(os.environ["WEB_PAGES"])
        found = {
            webdb_key(link): Fresh(when, self.order.round, source=url)
            for url in sorted(urls, reverse=True)
            for link in links_of(url, pages)
        }
        outcomes = {key: Outcome(Kind.FETCHED, when, 200, signature=key[-16:]) for key in keys}
        hosts = {host_of(url).encode(): HostState(pages=self.order.round) for url in urls}
        run = [self.table("fresh", found), self.table("hosts", hosts), self.archive(urls)]
        run.append(replace(self.table("outcomes", outcomes), counters={"pages": len(keys), "new": len(keys)}))
        run += self.indexed(urls, when) if os.environ.get("WEB_TEXTS") else ()
        put_run(self.store, self.order.round, self.order.partition, run)
        log(*(f"saved {url}" for url in urls))
        self.files += run

    def indexed(self, urls: list[str], when: int) -> tuple[FileEntry, ...]:
        builder = RunBuilder()
        for url in urls:
            builder.add(Document(url, text=f"the text of {url}", language="en", fetched_at=when))
        return builder.write(self.store, partition=self.order.partition, round_number=self.order.round)

    def table(self, kind: str, rows: Mapping[bytes, object]) -> FileEntry:
        keys = sorted(rows)
        place = {"partition": self.order.partition, "round_number": self.order.round}
        return write_table(self.store, kind, [(keys, [encode(rows[key]) for key in keys])], **place)

    def archive(self, urls: list[str]) -> FileEntry:
        with self.store.write(data_name("pages", self.order.partition, self.order.round)) as sink:
            sink.write("\n".join(urls).encode())
        return FileEntry("pages", self.order.partition, sink.name, sink.bytes, len(urls), sink.checksum)


def log(*lines: str) -> None:
    """Note what happened where a test can read it, in one write so that tasks do not mix."""
    if path := os.environ.get("FETCH_LOG"):
        with Path(path).open("ab", buffering=0) as sink:
            sink.write("".join(f"{line}\n" for line in lines).encode())


if __name__ == "__main__":
    StandInFetch.run()
