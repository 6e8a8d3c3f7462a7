from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.state.kinds import DICTIONARY, WEBDB
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import Snapshot, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import host_of_key, url_of_key
from crawlctl.pipeline.webdb.census import Census, due_ranges
from crawlctl.pipeline.webdb.extract.part_extract import extract_of
from crawlctl.pipeline.webdb.layers.changed_rows import changed_rows
from crawlctl.pipeline.webdb.layers.delta import current_layers
from crawlctl.pipeline.webdb.layers.layer import layers_of, newest_number
from crawlctl.pipeline.webdb.merge import update
from crawlctl.pipeline.webdb.merge.update import advance_part
from crawlctl.pipeline.webdb.part import WebDbPart, open_part, part_in, with_parts, write_part
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, encode
from crawlctl.tests.pipeline.webdb.older_parts import without_extracts, without_new_counters

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.pipeline.formats.sequencefile.block_body import Block

POLICY = RecrawlSettings()
NOW = 5
Table = dict[bytes, bytes]

keys = st.integers(0, 40).map(lambda n: b"h%d.example http://h%d.example/%d" % (n // 7, n // 7, n))
found = st.dictionaries(keys, st.from_type(Fresh), max_size=9)
outcomes = st.builds(
    Outcome,
    kind=st.sampled_from([kind for kind in Kind if kind is not Kind.DUPLICATE]),
    fetched_at=st.integers(0, 6),
    signature=st.binary(max_size=1),
    named=st.one_of(st.just(""), keys.map(url_of_key)),
)
heard = st.dictionaries(keys, outcomes, max_size=6)
rounds = st.lists(st.tuples(found, heard, st.booleans()), max_size=9)


def table_of(store: LocalStore, snapshot: Snapshot) -> Table:
    part = open_part(store, snapshot, 0)
    blocks = list(part.blocks()) if part else []
    rows = [row for block in blocks for row in zip(block.keys, block.values, strict=True)]
    assert [key for key, _ in rows] == sorted({key for key, _ in rows})
    return dict(rows)


def advanced(
    store: LocalStore, snapshot: Snapshot, fresh: dict[bytes, Fresh], outcomes: dict[bytes, Outcome]
) -> Snapshot:
    number = snapshot.round + 1
    part = advance_part(
        store,
        snapshot,
        0,
        sorted(fresh.items()),
        sorted(outcomes.items()),
        now=NOW,
        settings=POLICY,
        round_number=number,
    )
    return replace(snapshot, files=with_parts(snapshot, part.files), round=number)


def whole(store: LocalStore, snapshot: Snapshot) -> Snapshot:
    """Return a snapshot whose part is written as one file."""
    part = open_part(store, snapshot, 0)
    rows = [(block.keys, block.values) for block in part.blocks()] if part else []
    files = write_part(store, rows, partition=0, round_number=snapshot.round)
    return replace(snapshot, files=with_parts(snapshot, files))


def indexed(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot whose index was merged."""
    rest = tuple(entry for entry in snapshot.files if entry.kind != DICTIONARY)
    mark = FileEntry(DICTIONARY, 0, data_name(DICTIONARY, 0, snapshot.round), 0, 0, "0" * 64)
    return replace(snapshot, files=(*rest, mark))


def totals(counters: dict[str, int]) -> dict[str, int]:
    """Return the counters of a census whose sums do not depend on when it was made."""
    own = {name: count for name, count in counters.items() if name not in ("rows", "layer", "since")}
    fixed = {name: count for name, count in own.items() if not name.startswith("due ")}
    return fixed | {"due": sum(span.entries for span in due_ranges(own))}


def look_all_up(old: WebDbPart | None) -> int:
    return 1_000_000 if old else 0


@given(rounds, st.booleans())
def test_layers_are_the_table_that_one_file_would_be(
    history: list[tuple[dict[bytes, Fresh], dict[bytes, Outcome], bool]], looks_up: bool
) -> None:
    """Of the two crawls one looks rows up by extracts, or reads layers; the other reads one file."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        store = LocalStore(folder)
        layered = single = create_crawl(store, 1)
        seen, then = -1, Table()
        for fresh, outcomes, is_indexed in history:
            if looks_up:
                patch.setattr(update, "_most_look_ups", look_all_up)
            layered = advanced(store, layered, fresh, outcomes)
            patch.undo()
            single = whole(store, advanced(store, single, fresh, outcomes))
            table = table_of(store, layered)
            assert table == table_of(store, single)
            check_look_ups(store, layered, table)
            check_census(layered, table)
            new = changed_rows(store, layered.files, seen)
            assert new is not None, "layers that the index has not seen stay apart from older ones"
            rows = {key: value for block in new.blocks() for key, value in zip(*block[1:], strict=True)}
            assert rows.items() >= table.items() - then.items() and rows.items() <= table.items()
            if is_indexed:
                layered, seen, then = indexed(layered), newest_number(layered.files), table


def check_look_ups(store: LocalStore, snapshot: Snapshot, table: Table) -> None:
    part = open_part(store, snapshot, 0)
    if part is None:
        assert not table
        return
    for number in range(-1, 45):
        host = f"h{number // 7}.example"
        key = b"%s http://%s/%d" % (host.encode(), host.encode(), number)
        assert part.packed(key) == table.get(key)
        of_host = {key: value for key, value in table.items() if host_of_key(key) == host}
        assert dict(part.of_host(host)) == of_host
        assert part.has_host(host.encode()) == bool(of_host)


def check_census(snapshot: Snapshot, table: Table) -> None:
    entries = snapshot.files_of(WEBDB)
    assert sum(entry.records for entry in entries) == len(table)
    census = Census()
    census.add(sorted(table), [table[key] for key in sorted(table)])
    assert not table or totals(entries[-2].counters) == totals(census.counters())
    layers = layers_of(entries)
    assert all(layer.rows and not layer.data.records for layer in layers[:-1])


def test_an_old_part_is_carried_over_by_the_next_write(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    first = {b"a.example http://a.example/": Fresh(1), b"b.example http://b.example/": Fresh(1, depth=1)}
    made = advanced(store, create_crawl(store, 1), first, {})
    old = without_new_counters(made)
    assert newest_number(old.files) == 0
    after = advanced(store, old, {b"b.example http://b.example/2": Fresh(1)}, {})
    assert list(table_of(store, after)) == sorted([*first, b"b.example http://b.example/2"])
    check_census(after, table_of(store, after))
    assert changed_rows(store, after.files, 0) is None, "the old part was written again as a whole"


def test_a_part_in_the_present_form_is_left_as_it_is(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    made = advanced(store, create_crawl(store, 1), {b"a.example http://a.example/": Fresh(1)}, {})
    assert current_layers(store, made.files, partition=0, round_number=9) == made.files


def test_a_round_writes_what_it_changes(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    many = {b"a.example http://a.example/%04d" % number: Fresh(1) for number in range(2000)}
    made = indexed(advanced(store, create_crawl(store, 1), many, {}))
    after = advanced(store, made, {b"a.example http://a.example/new": Fresh(1)}, {})
    assert [layer.rows for layer in layers_of(after.files)] == [2000, 1]
    assert after.files_of(WEBDB)[0] == made.files_of(WEBDB)[0]


def test_layers_of_older_releases_get_extracts_when_they_are_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update, "_most_look_ups", look_all_up)
    store = LocalStore(tmp_path)

    def pages(name: str, count: int) -> dict[bytes, Fresh]:
        return {b"a.example http://a.example/%s%04d" % (name.encode(), n): Fresh(1) for n in range(count)}

    made = without_extracts(indexed(advanced(store, create_crawl(store, 1), pages("a", 200), {})))
    assert extract_of(part_in(store, made.files)) is None
    made = indexed(advanced(store, made, pages("b", 100), {}))
    assert extract_of(part_in(store, made.files)) is None, "the older layer is as it was"
    made = advanced(store, made, pages("c", 1), {})
    assert [layer.rows for layer in layers_of(made.files)] == [300, 1]
    assert extract_of(part_in(store, made.files)) is not None
    assert set(table_of(store, made)) == {*pages("a", 200), *pages("b", 100), *pages("c", 1)}


def test_a_round_that_brings_a_part_nothing_does_not_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a round may have read the sitemaps of a partition only, and have found no page there."""

    blocks, seen = WebDbPart.blocks, list[int]()

    def read(part: WebDbPart) -> Iterator[Block]:
        for block in blocks(part):
            seen.append(len(block.keys))
            yield block

    store = LocalStore(tmp_path)
    many = {b"a.example http://a.example/%04d" % number: Fresh(1) for number in range(2000)}
    made = indexed(advanced(store, create_crawl(store, 1), many, {}))
    monkeypatch.setattr(WebDbPart, "blocks", read)
    assert advanced(store, made, {}, {}).files_of(WEBDB) == made.files_of(WEBDB)
    assert not seen


def test_a_round_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    first = {b"a.example http://a.example/": Fresh(1)}
    made = advanced(store, create_crawl(store, 1), first, {})
    assert advanced(store, made, first, {}).files == made.files


def test_seeds_of_very_many_hosts_are_counted_without_a_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawlctl.pipeline.webdb.census.MAX_SEED_HOSTS", 3)
    store = LocalStore(tmp_path)
    made = create_crawl(store, 1)
    for number in range(6):
        host = b"h%d.example" % number
        for path in (b"", b"more"):
            made = advanced(store, made, {b"%s http://%s/%s" % (host, host, path): Fresh(1)}, {})
    table = table_of(store, made)
    check_census(made, table)
    part = part_in(store, made.files)
    assert part is not None and [part.seeds_of(f"h{number}.example") for number in range(7)] == [2] * 6 + [0]
    assert all(encode(Fresh(1)) != value for value in table.values())
