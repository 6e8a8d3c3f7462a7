from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.segment.duplicate_groups import pack_groups, read_groups, write_groups
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

MEMBERS = st.dictionaries(st.integers(0, 2**20), st.integers(0, 2**64 - 1), max_size=30)


@given(MEMBERS, st.integers(0, 2**20))
def test_a_document_is_in_the_group_it_was_put_in(members: dict[int, int], other: int) -> None:
    packed = pack_groups("segments/00000/1", members)
    assert {ordinal: packed.group_of(ordinal) for ordinal in members} == members
    assert packed.group_of(other) == members.get(other)


def test_groups_are_read_as_they_were_written(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    one, none = pack_groups("one", {3: 7, 1: 9}), pack_groups("none", {})
    entries = write_groups(store, [one, none], partition=2, round_number=5)
    assert [entry.counters for entry in entries] == [{"grouped": 2}]
    found = read_groups(store, [*entries, FileEntry("webdb", 2, "webdb/x", 1, 1, "", {})])
    assert found == {"one": one, "none": none}


def test_damage_is_told(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    (entry,) = write_groups(store, [pack_groups("one", {3: 7, 1: 9})], partition=0, round_number=1)
    path = tmp_path / entry.name
    data = path.read_bytes()
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        with pytest.raises(CorruptFile):
            read_groups(store, [entry])
    path.write_bytes(data[:-3])
    with pytest.raises(CorruptFile):
        read_groups(store, [entry])
