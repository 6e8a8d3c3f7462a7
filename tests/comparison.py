"""What two crawls of one web are compared by: every record of theirs, times aside."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.index.segment.duplicate_groups import read_groups
from crawlctl.pipeline.rank.publish.rank_tables import first_ranks
from crawlctl.pipeline.state.kinds import HISTORY, RANKS
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.webdb.part import scan
from crawlctl.tests.pipeline.index.merge.reading import links_of, opened, postings_of, records_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from msgspec import Struct

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import WebEntry

TIMES = {"next_due", "first_seen", "last_tried", "last_fetched", "last_changed", "fetched_at"}
TABLES = ("url", "host", "domain")
ALL = 1 << 62

Fields = dict[str, object]


class Crawled(NamedTuple):
    """What a crawl has come to, without times and without how it was cut into runs."""

    webdb: dict[str, Fields]
    documents: dict[str, Fields]
    postings: dict[bytes, dict[str, list[int]]]
    links: dict[str, bytes]
    ranks: dict[str, dict[str, float]]
    groups: dict[str, str]


def without_history(files: Iterable[FileEntry]) -> tuple[FileEntry, ...]:
    """Return the files of a snapshot but for its history, which grows with each commit."""
    return tuple(entry for entry in files if entry.kind != HISTORY)


def crawled(store: Store) -> Crawled:
    """Read all of a crawl; each live page of its WebDB must have a document."""
    snapshot = load_current(store)
    known = dict(web_entries(store, snapshot))
    records = records_of(store, snapshot.files)
    assert records.keys() == {url for url, entry in known.items() if entry.live}
    return Crawled(
        {url: _timeless(entry) for url, entry in known.items()},
        {url: _timeless(record) for url, record in records.items()},
        postings_of(store, snapshot.files),
        links_of(store, snapshot.files),
        _ranks(store, snapshot),
        _groups(store, snapshot),
    )


def assert_same(found: Crawled, wanted: Crawled) -> None:
    """Compare table by table and record by record: a failure shows what differs, and not two crawls."""
    for table in Crawled._fields:
        mine, theirs = getattr(found, table), getattr(wanted, table)
        assert mine.keys() == theirs.keys(), table
        different = {key: (mine[key], theirs[key]) for key in mine if mine[key] != theirs[key]}
        assert not different, table


def web_entries(store: Store, snapshot: Snapshot) -> Iterator[tuple[str, WebEntry]]:
    """Yield all of the WebDB."""
    yield from chain.from_iterable(scan(store, snapshot, number) for number in range(snapshot.partitions))


def _timeless(record: Struct) -> Fields:
    return {name: getattr(record, name) for name in record.__struct_fields__ if name not in TIMES}


def _ranks(store: Store, snapshot: Snapshot) -> dict[str, dict[str, float]]:
    if not snapshot.files_of(RANKS):
        return {}
    return {by: dict(first_ranks(store, snapshot.files, by, ALL)) for by in TABLES}


def _groups(store: Store, snapshot: Snapshot) -> dict[str, str]:
    """Return the first URL of the group of each document that is in one with others, by URL.

    Who leads a group depends on when its documents were compared.
    """
    found = read_groups(store, snapshot.files)
    groups = {
        one.records[ordinal].url: group
        for one in opened(store, snapshot.files)
        if one.segment.name in found
        for ordinal in range(one.segment.documents)
        if (group := found[one.segment.name].group_of(ordinal)) is not None and ordinal not in one.dead
    }
    members = defaultdict[int, list[str]](list)
    for url, group in groups.items():
        members[group].append(url)
    return {url: min(urls) for urls in members.values() if len(urls) > 1 for url in urls}
