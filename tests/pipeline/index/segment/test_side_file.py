"""The bytes of side files, which stores written by earlier versions have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.segment.duplicate_groups import (
    DuplicateGroups,
    pack_groups,
    read_groups,
    write_groups,
)
from crawlctl.pipeline.index.segment.priors import read_priors, write_priors
from crawlctl.pipeline.index.segment.side_file import RangedSideFile
from crawlctl.pipeline.index.segment.tombstones import Tombstones, read_tombstones, write_tombstones
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

OLDER_TOMBSTONES = "9301ce98fc71559195a1730a0203c40a785e6b62000001060083"
TOMBSTONES = "9301ce98fc71559197a1730a0203c40a785e6b62000001060083c400c400"
GROUPS = "9301ceb77f1c209293a173c4080100000003000000c4100000000000000080070000000000000093a174c400c400"
PRIORS = "15000000e29657c59294a1730003ce352441c294a1740301ce98dd4acc61626364"
NEWER_GROUPS = (
    "9301ceb77f1c209294a173c4080100000003000000c41000000000000000800700000000000000c40094a174c400c400c400"
)
PLACE: dict[str, Any] = {"partition": 0, "round_number": 1}


def test_tombstones_stay_as_they_were(store: LocalStore) -> None:
    made = Tombstones("s", 10, 2, 3, b"\x82\x00")
    files = write_tombstones(store, [made, Tombstones("t", 3, 0, 0, b"\x00")], **PLACE)
    assert store.read(files[0].name).hex() == TOMBSTONES
    assert read_tombstones(store, files) == {"s": made}


def test_tombstones_of_older_versions_do_not_say_which_documents_have_other_anchors(
    store: LocalStore,
) -> None:
    made = Tombstones("s", 10, 2, 3, b"\x82\x00")
    files = write_tombstones(store, [made], **PLACE)
    (store.root / files[0].name).write_bytes(bytes.fromhex(OLDER_TOMBSTONES))
    (read,) = read_tombstones(store, files).values()
    assert read == made
    assert not read.tells_anchors


def test_tombstones_say_which_documents_have_other_anchors_and_which_pages_are_missing(
    store: LocalStore,
) -> None:
    made = Tombstones("s", 10, 2, 3, b"\x82\x00", b"\x15\x00", b"12345678")
    files = write_tombstones(store, [made, Tombstones("t", 3, 0, 0, b"\x00", b"", b"abcd")], **PLACE)
    found = read_tombstones(store, files)
    assert found["s"] == made
    assert (found["s"].stale, found["t"].stale) == (7, 1)
    assert made.tells_anchors


def test_duplicate_groups_stay_as_they_were(store: LocalStore) -> None:
    made = [pack_groups("s", {3: 7, 1: 2**63}), pack_groups("t", {})]
    files = write_groups(store, made, **PLACE)
    assert store.read(files[0].name).hex() == NEWER_GROUPS
    assert read_groups(store, files) == {"s": made[0], "t": made[1]}


def test_duplicate_groups_of_older_releases_are_read(store: LocalStore) -> None:
    name = "groups/00000/00000001-0000000000000000"
    assert store.create(name, bytes.fromhex(GROUPS))
    found = read_groups(store, [FileEntry("groups", 0, name, 1, 2, "0" * 64)])
    assert found == {"s": pack_groups("s", {3: 7, 1: 2**63}), "t": pack_groups("t", {})}


def test_groups_say_which_documents_were_deleted(store: LocalStore) -> None:
    made = DuplicateGroups("s", b"", b"", b"\x82")
    assert read_groups(store, write_groups(store, [made], **PLACE)) == {"s": made}


def test_priors_stay_as_they_were(store: LocalStore) -> None:
    files = write_priors(store, {"s": b"abc", "t": b"d"}, **PLACE)
    assert store.read(files[0].name).hex() == PRIORS
    assert read_priors(store, files)[0].of("t") == b"d"


def test_a_file_of_another_kind_is_damaged(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    (tombstones,) = write_tombstones(store, [Tombstones("s", 10, 2, 3, b"\x82\x00")], **PLACE)
    (groups,) = write_groups(store, [pack_groups("s", {3: 7})], **PLACE)
    (tmp_path / groups.name).write_bytes((tmp_path / tombstones.name).read_bytes())
    with pytest.raises(CorruptFile, match="not a file of kind groups"):
        read_groups(store, [groups])
    with pytest.raises(CorruptFile, match="a directory of"):
        RangedSideFile(store, tombstones)
