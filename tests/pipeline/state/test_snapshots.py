from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import (
    CommitConflict,
    ConfigError,
    CorruptFile,
    MissingFile,
    NotACrawl,
    StoreError,
    StoreUnavailable,
)
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import (
    FORMAT_VERSION,
    Snapshot,
    commit,
    create_crawl,
    decode_snapshot,
    encode_snapshot,
    load_current,
    load_snapshot,
    snapshot_numbers,
)
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.store.base import Store


def entry(kind: str, partition: int, name: str = "webdb/a") -> FileEntry:
    return FileEntry(kind, partition, name, 1, 1, "00" * 32)


@pytest.fixture
def folder(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def test_a_new_crawl_is_empty_and_current(store: Store) -> None:
    first = create_crawl(store, 4)
    assert (first.number, first.partitions, first.round, first.files) == (1, 4, 0, ())
    assert load_current(store) == first
    assert [file.name for file in store.list()] == ["snapshots/00000001.json"]


def test_each_commit_follows_the_one_before(store: Store) -> None:
    first = create_crawl(store, 4)
    second = commit(store, first, files=[entry("webdb", 0)], round_number=1, now=1000.5)
    third = commit(store, second, files=[entry("webdb", 1)], round_number=2)
    assert (second.number, second.parent, second.created) == (2, first.writer, 1000.5)
    assert (third.number, third.parent, third.partitions) == (3, second.writer, 4)
    assert load_current(store) == third
    assert load_snapshot(store, 2) == second
    assert snapshot_numbers(store) == (1, 2, 3)


def test_the_second_of_two_commits_on_one_parent_fails(store: Store) -> None:
    first = create_crawl(store, 4)
    winner = commit(store, first, files=[entry("webdb", 0)], round_number=1)
    with pytest.raises(CommitConflict, match=r"committed snapshot 2 first.*run the command again") as caught:
        commit(store, first, files=[entry("webdb", 1)], round_number=1)
    assert caught.value.exit_code == 75
    assert load_current(store) == winner


def test_a_commit_into_a_hole_left_by_gc_fails(folder: LocalStore) -> None:
    first = create_crawl(folder, 4)
    second = commit(folder, first, files=(), round_number=1)
    third = commit(folder, second, files=(), round_number=2)
    folder.delete(["snapshots/00000001.json", "snapshots/00000002.json"])
    with pytest.raises(CommitConflict):
        commit(folder, first, files=[entry("webdb", 1)], round_number=1)
    assert load_current(folder) == third


def test_a_commit_another_run_has_followed_at_once_has_won(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = create_crawl(folder, 4)
    create = LocalStore.create

    def create_and_follow(self: LocalStore, name: str, data: bytes) -> bool:
        won = create(self, name, data)
        monkeypatch.undo()
        commit(self, decode_snapshot(data, name), files=(), round_number=2)
        return won

    monkeypatch.setattr(LocalStore, "create", create_and_follow)
    second = commit(folder, first, files=(), round_number=1)
    assert load_current(folder).parent == second.writer


def test_a_store_without_a_crawl_names_the_command_that_makes_one(store: Store) -> None:
    with pytest.raises(NotACrawl, match="crawlctl run https://… --store"):
        load_current(store)
    store.put("snapshots/README", b"not a snapshot")
    with pytest.raises(NotACrawl):
        load_current(store)


def test_a_crawl_is_made_once(folder: LocalStore) -> None:
    create_crawl(folder, 4)
    with pytest.raises(StoreError, match=r"holds a crawl already \(snapshot 1\)"):
        create_crawl(folder, 4)


def test_a_crawl_has_partitions(folder: LocalStore) -> None:
    with pytest.raises(ConfigError, match="--partitions"):
        create_crawl(folder, 0)


def test_a_store_that_overwrites_gets_no_crawl(folder: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def overwrite(self: LocalStore, name: str, data: bytes) -> bool:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_bytes(data)
        return True

    monkeypatch.setattr(LocalStore, "create", overwrite)
    with pytest.raises(StoreUnavailable, match="If-None-Match"):
        create_crawl(folder, 4)
    assert list(folder.list()) == []


def test_a_snapshot_collected_while_it_is_looked_up_is_passed_over(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = create_crawl(folder, 4)
    read = LocalStore.read

    def collect_first(self: LocalStore, name: str, *arguments: int) -> bytes:
        monkeypatch.undo()
        commit(self, first, files=(), round_number=1)
        self.delete([name])
        return read(self, name, *arguments)

    monkeypatch.setattr(LocalStore, "read", collect_first)
    assert load_current(folder).number == 2


def test_a_snapshot_that_is_gone_is_missing(folder: LocalStore) -> None:
    create_crawl(folder, 4)
    with pytest.raises(MissingFile, match=r"00000007\.json"):
        load_snapshot(folder, 7)


def test_files_are_found_by_kind_and_partition() -> None:
    files = (entry("webdb", 0), entry("docs", 0), entry("webdb", 1), entry("webdb", 0, "webdb/b"))
    snapshot = make(files=files)
    assert snapshot.files_of("webdb") == (files[0], files[2], files[3])
    assert snapshot.files_of("webdb", 0) == (files[0], files[3])
    assert snapshot.files_of("webdb", 2) == snapshot.files_of("ranks") == ()


def make(**fields: object) -> Snapshot:
    values = {
        "version": FORMAT_VERSION,
        "number": 1,
        "writer": "w",
        "parent": "",
        "created": 0.0,
        "round": 0,
        "partitions": 1,
        "files": (),
    }
    return Snapshot(**{**values, **fields})  # type: ignore[arg-type]


@given(
    number=st.integers(1, 2**40),
    created=st.floats(0, 4e9),
    writer=st.text(),
    files=st.lists(st.builds(entry, st.text(min_size=1), st.integers(0, 10**5)), max_size=3),
)
def test_a_snapshot_survives_its_file(
    number: int, created: float, writer: str, files: list[FileEntry]
) -> None:
    snapshot = make(number=number, created=created, writer=writer, files=tuple(files))
    assert decode_snapshot(encode_snapshot(snapshot), "snapshot") == snapshot


def test_a_snapshot_file_has_a_line_for_each_file() -> None:
    text = encode_snapshot(make(files=(entry("webdb", 0), entry("docs", 1)))).decode()
    assert [line for line in text.splitlines() if '"kind":"docs"' in line] == [
        '  {"kind":"docs","partition":1,"name":"webdb/a","bytes":1,"records":1,"checksum":"'
        + "00" * 32
        + '","counters":{}}'
    ]
    assert '\n "number": 1,\n' in text


def test_a_newer_format_asks_for_an_upgrade() -> None:
    newer = {"version": FORMAT_VERSION + 1, "something": "else"}
    with pytest.raises(StoreError, match="has format 5 and this crawlctl reads up to 4; upgrade") as caught:
        decode_snapshot(msgspec.json.encode(newer), "snapshots/00000009.json")
    assert not isinstance(caught.value, CorruptFile)


GOOD = encode_snapshot(make(files=(entry("webdb", 0),)))
OLDER = re.sub(rb',\n "checksum": "[0-9a-f]{8}"', b"", GOOD)  # as older versions wrote it


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "truncated"),
        (GOOD[:-10], "truncated"),
        (OLDER[:40] + b"\xff" + OLDER[41:], "byte|UTF-8|malformed"),
        (b"[]", "Expected `object`"),
        (b"{}", "missing required field `version`"),
        (OLDER.replace(b'"round": 0', b'"round": 0, "colour": 1'), "unknown field `colour`"),
        (OLDER.replace(b'"round": 0', b'"round": -1'), "round"),
        (OLDER.replace(b'"partitions": 1', b'"partitions": 0'), "partitions"),
        (OLDER.replace(b"webdb/a", b"/etc/a!"), "cannot name a file"),
    ],
)
def test_a_damaged_snapshot_is_named_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(CorruptFile, match=f"(?s)snapshots/00000001.json: damaged at byte .*({reason})"):
        decode_snapshot(data, "snapshots/00000001.json")


def test_each_flipped_bit_of_a_snapshot_is_told_with_the_remedy() -> None:
    for place in range(8 * len(GOOD)):
        at, bit = divmod(place, 8)
        damaged = GOOD[:at] + bytes([GOOD[at] ^ 1 << bit]) + GOOD[at + 1 :]
        with pytest.raises(CorruptFile, match=r"(?s)00000001\.json: damaged.*`crawlctl check` says which"):
            decode_snapshot(damaged, "snapshots/00000001.json")


def test_a_snapshot_that_is_cut_off_anywhere_is_damaged() -> None:
    for end in range(len(GOOD)):
        with pytest.raises(CorruptFile):
            decode_snapshot(GOOD[:end], "snapshots/00000001.json")


def test_a_snapshot_of_an_older_version_has_no_checksum_and_is_read() -> None:
    assert OLDER != GOOD
    assert decode_snapshot(OLDER, "snapshot") == decode_snapshot(GOOD, "snapshot")


def test_a_snapshot_says_what_has_made_it_and_older_ones_do_not(folder: LocalStore) -> None:
    first = create_crawl(folder, 4)
    second = commit(folder, first, files=(), round_number=1, made_by="run, round 1")
    third = commit(folder, second, files=(), round_number=1)
    assert [load_snapshot(folder, number).made_by for number in (1, 2, 3)] == ["init", "run, round 1", ""]
    older = encode_snapshot(third).replace(b',\n "made_by": ""', b"")
    assert b"made_by" not in older
    unsealed = older[: older.index(b',\n "checksum"')] + b"\n}\n"
    assert decode_snapshot(unsealed, "snapshot") == third


def test_a_snapshot_under_the_name_of_another_is_damaged(folder: LocalStore) -> None:
    create_crawl(folder, 4)
    folder.put("snapshots/00000002.json", folder.read("snapshots/00000001.json"))
    with pytest.raises(CorruptFile, match="it says to be snapshot 1"):
        load_current(folder)
