"""A small crawl that has all a crawl can have.

Several segments a partition, dead and frontier documents, near duplicates, ranks that are older than the
WebDB, states of hosts, archives, and runs that wait for a merge.
"""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.capture_record import CaptureRecord
from crawlctl.pipeline.captures.capture_table import RunCaptures
from crawlctl.pipeline.config.settings import Config, IndexSettings, RunnerSettings
from crawlctl.pipeline.crawl.indexing import IndexStep, with_groups
from crawlctl.pipeline.crawl.ranking import rank_now
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.politeness.host_state import HostState
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.text.likeness.fingerprint import fingerprint
from crawlctl.pipeline.urls.hosts import host_of, partition_of, webdb_key
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode
from crawlctl.pipeline.webdb.repeated.block_sample import encode_sample, sample_of
from crawlctl.pipeline.webdb.row_files import write_table
from crawlctl.tests.pipeline.webdb.layered_part import write_layered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

HOSTS = (
    *(f"host{number}.example" for number in range(9)),
    "www.host1.example",
    "host2.example:8080",
    "b.org",
)
WORDS = [
    "event",
    "loop",
    "thread",
    "socket",
    "running",
    "runs",
    "queue",
    "lock",
    "über",
    "straße",
    "naïve",
    "asyncio",
    "pages",
    "linked",
]
NOW = 1_800_000_000
SHARES = (0.6, 0.2, 0.07)  # of the pages that each merged round fetches: the segments of all of them stay
MANY = 60  # words, so that pages can be near duplicates


def work_on(store: Store, runner: str = "inline", **settings: object) -> Work:
    index = IndexSettings(max_stale=1.0, max_drift=1.0)
    config = Config(store=store.uri, runner=RunnerSettings(name=runner), index=index, **settings)  # type: ignore[arg-type]
    return Work(store, config, Display())


def make_crawl(store: Store, partitions: int, pages: int = 150, seed: int = 1) -> Snapshot:
    """Make such a crawl in an empty store."""
    maker = _Maker(store, partitions, pages, random.Random(seed))
    for share in SHARES:
        maker.round(share, merged=True)
    rank_now(maker.work)
    maker.group()
    maker.grow()
    maker.round(0.1, merged=False)
    return load_current(store)


class _Maker:
    def __init__(self, store: Store, partitions: int, pages: int, chance: random.Random) -> None:
        self.work = work_on(store)
        self._store = store
        self._partitions = partitions
        self._chance = chance
        self._urls = [f"https://{HOSTS[number % len(HOSTS)]}/page/{number}" for number in range(pages)]
        self._entries: dict[str, WebEntry] = {}
        create_crawl(store, partitions)

    def round(self, share: float, *, merged: bool) -> None:
        """Fetch some pages, some of them again, lose a few, and merge what there is."""
        before = load_current(self._store)
        number = before.round + 1
        chosen = sorted(self._chance.sample(self._urls, int(share * len(self._urls))))
        documents = [self._document(url, NOW + number) for url in chosen]
        self._note(documents, number)
        replaced = ("webdb", "hosts", "blocks")
        files = tuple(entry for entry in before.files if entry.kind not in replaced)
        files += tuple(self._written(documents, number))
        if merged:
            step = IndexStep(files, self._partitions, number)
            files = step.merged_files(step.run(self.work))
        commit(self._store, before, files=files, round_number=number)

    def group(self) -> None:
        before = load_current(self._store)
        files = with_groups(self.work, before.files, before.round)
        commit(self._store, before, files=files, round_number=before.round)

    def grow(self) -> None:
        """Let there be pages that no ranking knows."""
        known = len(self._urls)
        self._urls += [f"https://{HOSTS[n % len(HOSTS)]}/new/{n}" for n in range(known, known + 30)]

    def _document(self, url: str, when: int) -> Document:
        place = self._urls.index(url)
        words = random.Random(place // 3).choices(WORDS, k=MANY)  # those of three pages are nearly the same
        words[place % 3] = f"word{place}"
        text = " ".join(words)
        targets = self._chance.sample(self._urls, 5)
        prints = fingerprint(text)
        return Document(
            url,
            f"{self._chance.choice(WORDS)} {place}",
            (self._chance.choice(WORDS),),
            text,
            self._chance.choice(("en", "de", "")),
            tuple((target, f"anchor {place % 7}", place % 11 == 0) for target in targets),
            when,
            when - 1000 if place % 2 else 0,
            prints.signature,
            prints.sketch,
        )

    def _note(self, documents: Iterable[Document], number: int) -> None:
        anchors: defaultdict[str, set[str]] = defaultdict(set)
        for document in documents:
            seen = WebEntry(Status.FETCHED, NOW, 0.5, 0, 1, last_fetched=document.fetched_at)
            self._entries[document.url] = seen
            for target, anchor, _ in document.links:
                anchors[target].add(anchor)
        for url, texts in anchors.items():
            known = self._entries.get(url, WebEntry(Status.UNFETCHED, 0, 0.1, 1, 1))
            weights = tuple([1] * len(texts))
            self._entries[url] = _replace(known, anchors=tuple(sorted(texts)), anchor_weights=weights)
        for url in self._chance.sample(sorted(self._entries), number):
            self._entries[url] = _replace(self._entries[url], status=Status.GONE)

    def _written(self, documents: list[Document], number: int) -> Iterable[FileEntry]:
        for here in range(self._partitions):
            place = {"partition": here, "round_number": number}
            keys = sorted(webdb_key(url) for url in self._entries if self._home(url) == here)
            values = [encode(self._entries[key.decode().partition(" ")[2]]) for key in keys]
            yield from write_layered(self._store, keys, values, **place)
            hosts = sorted(host.encode() for host in HOSTS if partition_of(host, self._partitions) == here)
            states = [encode(HostState(pages=len(host))) for host in hosts]
            samples = [encode_sample(sample_of([(len(host), b"hash" * 2)])) for host in hosts]
            if hosts:
                yield write_table(self._store, "hosts", [(hosts, states)], **place)
                yield write_table(self._store, "blocks", [(hosts, samples)], **place)
            mine = [document for document in documents if self._home(document.url) == here]
            for start in range(0, len(mine), 40):
                builder = RunBuilder()
                for document in mine[start : start + 40]:
                    builder.add(document)
                yield from builder.write(self._store, **place)
            with self._store.write(data_name("pages", here, number, ".warc.gz")) as sink:
                sink.write(f"the pages of {here} in {number}".encode() * 1000)
            listed = {"captures": len(mine)}
            yield FileEntry("pages", here, sink.name, sink.bytes, len(mine), sink.checksum, listed)
            run = RunCaptures()
            for place_in, document in enumerate(mine):
                about = document.fetched_at, 200, "text/html", "sha1:A", sink.name
                run.add(webdb_key(document.url), CaptureRecord(*about, place_in, 1))
            yield from run.write(self._store, **place)

    def _home(self, url: str) -> int:
        return partition_of(host_of(url), self._partitions)


def _replace(entry: WebEntry, **fields: object) -> WebEntry:
    from msgspec.structs import replace

    return replace(entry, **fields)
