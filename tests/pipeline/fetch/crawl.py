"""A small crawl on disk, one partition unless told otherwise, and the rounds of it that the tests make."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.config.units import decode_unit
from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.fetch.task import fetch_partition
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.runs.run_heads import read_heads
from crawlctl.pipeline.state.kinds import BLOCKS, FRESH, HOSTS, OUTCOMES
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import url_of_key, webdb_key
from crawlctl.pipeline.webdb.merge.update import advance_part, inject
from crawlctl.pipeline.webdb.part import lookup, scan, with_parts, write_part
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, Status, WebEntry, decode_fresh, encode
from crawlctl.pipeline.webdb.repeated.block_table import merge_blocks
from crawlctl.pipeline.webdb.row_files import open_table, read_hosts, read_outcomes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawlctl.pipeline.politeness.host_state import HostState
    from crawlctl.pipeline.state.manifest import FileEntry


def settings(**sections: dict[str, Any]) -> Config:
    """Return settings for loopback without delays; sections override it."""
    plain: dict[str, Any] = {
        "fetch": {
            "contact": "test@example.org",
            "allowed_networks": ["127.0.0.0/8"],
            "connect_timeout": "2s",
        },
        "politeness": {"delay": 0, "response_factor": 0, "backoff": 0, "robots_tries": 1},
    }
    for name, values in sections.items():
        plain[name] = {**plain.get(name, {}), **values}
    return msgspec.convert(plain, Config, dec_hook=decode_unit)


@dataclass
class Crawl:
    folder: Path
    config: Config = field(default_factory=settings)
    partitions: int = 1

    def __post_init__(self) -> None:
        self.store = LocalStore(self.folder)
        create_crawl(self.store, self.partitions)

    def inject(self, *urls: str) -> None:
        snapshot = load_current(self.store)
        injected = inject(self.store, snapshot, urls, int(time.time()) - 10)
        commit(self.store, snapshot, files=injected.files, round_number=snapshot.round)

    def order(self, partition: int = 0, **changes: Any) -> FetchOrder:
        snapshot = load_current(self.store)
        order = FetchOrder(
            store=str(self.folder),
            snapshot=snapshot.number,
            round=snapshot.round + 1,
            partition=partition,
            partitions=snapshot.partitions,
            deadline=time.time() + 60,
            max_pages=10_000,
            max_bytes=1 << 30,
            config=self.config,
        )
        return msgspec.structs.replace(order, **changes)

    def fetch(self, **changes: Any) -> Fetched:
        """Run the task of partition 0 and return what it left."""
        return Fetched(self.store, fetch_partition(self.order(**changes), self.store))

    def round(self, now_shift: int = 0, **changes: Any) -> Fetched:
        """Fetch, and carry the WebDB, the hosts and the blocks forward as the merge does."""
        fetched = self.fetch(**changes)
        snapshot = load_current(self.store)
        advanced = advance_part(
            self.store,
            snapshot,
            0,
            sorted(fetched.fresh_rows().items()),
            sorted(fetched.outcome_rows().items()),
            now=int(time.time()) + now_shift,
            settings=self.config.recrawl,
            round_number=snapshot.round + 1,
        )
        hosts = [entry for entry in fetched.files if entry.kind == HOSTS]
        numbers = {"partition": 0, "round_number": snapshot.round + 1}
        blocks = merge_blocks(self.store, snapshot.files_of(BLOCKS, 0), fetched.files, **numbers)
        files = with_parts(snapshot, [*advanced.files, *hosts, *blocks])
        commit(self.store, snapshot, files=files, round_number=snapshot.round + 1)
        return fetched

    def later_round(self, **changes: Any) -> Fetched:
        """Do a round that begins in another second than the one before, as real ones do."""
        time.sleep(1 - time.time() % 1)
        return self.round(**changes)

    def entry(self, url: str) -> WebEntry | None:
        return lookup(self.store, load_current(self.store), url)

    def statuses(self, host: str) -> dict[str, Status]:
        """Return what the WebDB says of the URLs of a host, by path."""
        found = scan(self.store, load_current(self.store), 0)
        return {url.removeprefix(f"http://{host}"): entry.status for url, entry in found}

    def urls(self) -> set[str]:
        """Return all URLs of partition 0."""
        return {url for url, _ in scan(self.store, load_current(self.store), 0)}

    def make_due(self, *changes: tuple[str, WebEntry]) -> None:
        """Put entries into the WebDB as they are given."""
        snapshot = load_current(self.store)
        rows = {webdb_key(url): encode(entry) for url, entry in (*scan(self.store, snapshot, 0), *changes)}
        keys = sorted(rows)
        files = write_part(
            self.store, [(keys, [rows[key] for key in keys])], partition=0, round_number=snapshot.round
        )
        commit(self.store, snapshot, files=with_parts(snapshot, files), round_number=snapshot.round)

    def forget_hosts(self) -> None:
        """Drop the host table, as if it were a day later."""
        snapshot = load_current(self.store)
        files = [entry for entry in snapshot.files if entry.kind != HOSTS]
        commit(self.store, snapshot, files=files, round_number=snapshot.round)


@dataclass
class Fetched:
    store: LocalStore
    files: list[FileEntry]

    def of(self, kind: str) -> list[FileEntry]:
        return [entry for entry in self.files if entry.kind == kind]

    def outcome_rows(self) -> dict[bytes, Outcome]:
        return {
            key: outcome for entry in self.of(OUTCOMES) for key, outcome in read_outcomes(self.store, entry)
        }

    def outcomes(self) -> dict[str, Outcome]:
        return {url_of_key(key): outcome for key, outcome in self.outcome_rows().items()}

    def kinds(self, host: str = "") -> dict[str, Kind]:
        """Return how URLs ended, by path where a host is given."""
        return {url.removeprefix(f"http://{host}"): outcome.kind for url, outcome in self.outcomes().items()}

    def fresh_rows(self) -> dict[bytes, Fresh]:
        return {
            key: decode_fresh(value)
            for entry in self.of(FRESH)
            for block in open_table(self.store, entry).blocks()
            for key, value in zip(block.keys, block.values, strict=True)
        }

    def fresh(self) -> dict[str, Fresh]:
        return {url_of_key(key): fresh for key, fresh in self.fresh_rows().items()}

    def indexed(self, host: str) -> set[str]:
        """Return the paths of the pages that the runs have documents of."""
        heads = (read_heads(self.store, run.docs_heads) for run in runs_of(self.files))
        return paths((head.url for run in heads for _, head in run), host)

    def hosts(self) -> dict[str, HostState]:
        return {host: state for entry in self.of(HOSTS) for host, state in read_hosts(self.store, entry)}

    def counters(self) -> dict[str, int]:
        total: dict[str, int] = {}
        for entry in self.of(OUTCOMES):
            for name, amount in entry.counters.items():
                total[name] = total.get(name, 0) + amount
        return total


def paths(urls: Iterable[str], host: str) -> set[str]:
    return {url.removeprefix(f"http://{host}") for url in urls}
