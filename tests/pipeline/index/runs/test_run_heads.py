from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import MissingFile
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.runs.run_files import RunFiles, runs_of
from crawlctl.pipeline.index.runs.run_heads import read_heads
from crawlctl.pipeline.index.segment.stored_documents import Document, decode_head

if TYPE_CHECKING:
    from crawlctl.pipeline.store.local.store import LocalStore


@pytest.fixture
def files(store: LocalStore) -> RunFiles:
    builder = RunBuilder()
    for number in range(4):
        builder.add(
            Document(f"http://a.example/{number}", text="pear", signature=b"s%d" % number, sketch=b"k")
        )
    (run,) = runs_of(builder.write(store, partition=0, round_number=1))
    return run


def test_heads_come_in_the_order_of_ordinals_packed_and_decoded(store: LocalStore, files: RunFiles) -> None:
    found = list(read_heads(store, files.docs_heads))
    assert [head.url for _, head in found] == [f"http://a.example/{number}" for number in range(4)]
    assert [(head.signature, head.sketch) for _, head in found] == [(b"s%d" % n, b"k") for n in range(4)]
    assert all(decode_head(packed) == head for packed, head in found)


def test_a_missing_file_is_named(store: LocalStore, files: RunFiles) -> None:
    store.delete([files.docs_heads])
    with pytest.raises(MissingFile, match="docs/00000"):
        list(read_heads(store, files.docs_heads))


def test_heads_are_read_without_numpy(store: LocalStore, files: RunFiles) -> None:
    program = """
import sys
from pathlib import Path
from crawlctl.pipeline.index.runs.run_heads import read_heads
from crawlctl.pipeline.store.local.store import LocalStore
heads = read_heads(LocalStore(Path(sys.argv[1])), sys.argv[2])
assert [head.lengths.body for _, head in heads] == [1, 1, 1, 1]
assert "numpy" not in sys.modules and "Stemmer" not in sys.modules
"""
    root = store.uri.removeprefix("file://")
    subprocess.run([sys.executable, "-c", program, root, files.docs_heads], check=True)
