from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.commands.shared.readable_records import record_lines
from crawlctl.pipeline.crawl.reports.dumped_files import open_table
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.snapshots import create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.layers.layer import layers_of
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode
from crawlctl.tests.pipeline.webdb.layered_part import write_layered

if TYPE_CHECKING:
    from pathlib import Path


def test_the_layers_of_a_part_are_dumped_as_one_table(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    keys = [webdb_key(f"http://a.example/{number:02d}") for number in range(20)]
    values = [encode(WebEntry(Status.FETCHED, number, 0.0, 1, 1)) for number in range(20)]
    files = write_layered(store, keys, values, partition=0, round_number=1)
    assert len(layers_of(files)) == 2
    snapshot = replace(create_crawl(store, 2), files=files)
    (records,) = open_table(store, snapshot, "webdb", None)
    assert list(records) == list(zip(keys, values, strict=True))
    assert records.header.metadata == {"crawlctl.kind": "webdb"}
    assert not list(open_table(store, snapshot, "webdb", 1))


@pytest.mark.parametrize("layer", [0, -1], ids=["oldest", "newest"])
def test_damage_to_a_layer_is_told_by_the_file_of_the_layer(tmp_path: Path, layer: int) -> None:
    store = LocalStore(tmp_path / "crawl")
    keys = [webdb_key(f"http://a.example/{number:02d}") for number in range(20)]
    values = [encode(WebEntry(Status.FETCHED, number, 0.0, 1, 1)) for number in range(20)]
    files = write_layered(store, keys, values, partition=0, round_number=1)
    damaged = layers_of(files)[layer].data.name
    path = tmp_path / "crawl" / damaged
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.unlink()
    path.write_bytes(data)
    snapshot = replace(create_crawl(store, 2), files=files)
    with pytest.raises(CorruptFile, match=damaged):
        list(record_lines(open_table(store, snapshot, "webdb", None), as_json=True))
