"""Documents that were shown are remembered, as many as fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.search.open import searcher as module
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_document_is_read_once_while_it_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_index(LocalStore(tmp_path), [[Page(f"https://a.org/{n}", f"Page {n}", "word") for n in range(4)]])
    looks, get = list[bytes](), MapFileReader.get

    def counted(self: MapFileReader, key: bytes) -> bytes | None:
        looks.append(key)
        return get(self, key)

    searcher = open_index(LocalStore(tmp_path))
    titles = [record.title for record in searcher.records(range(4))]
    monkeypatch.setattr(MapFileReader, "get", counted)
    assert [record.title for record in searcher.records([2, 0, 2])] == [titles[2], titles[0], titles[2]]
    assert not looks

    monkeypatch.setattr(module, "RECORD_BYTES", 10)  # less than any document
    forgetful = open_index(LocalStore(tmp_path))
    forgetful.records([1])
    looks.clear()
    assert [record.title for record in forgetful.records([1])] == [titles[1]]
    assert len(looks) == 1
