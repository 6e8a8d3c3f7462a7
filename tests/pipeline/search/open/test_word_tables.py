from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.index.words.word_table import write_words
from crawlctl.pipeline.search.open.word_tables import WordTables
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.store.parallel_reads import ParallelReads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.store.local.store import LocalStore


def tables(store: LocalStore, *layers: Mapping[str, int]) -> WordTables:
    """Return the tables of a dictionary with a layer for each of these counts of documents by word."""
    files = [
        write_words(store, f"dictionary/00000/{number:08d}-a", 0, documents, layer=number)
        for number, documents in enumerate(layers, 1)
    ]
    snapshot = commit(store, create_crawl(store, 1), files=files, round_number=1)
    return WordTables(store, snapshot, ParallelReads(remote=False))


def test_documents_of_all_layers_are_added_up(store: LocalStore) -> None:
    words = tables(store, {"tree": 30, "house": 5}, {"tree": 4, "train": 2}, {"trees": 9})
    assert [words.documents(word) for word in ("tree", "house", "train", "car")] == [34, 5, 2, 0]
    assert words.sharing(["tree"]) == {("tree", 34), ("trees", 9)}
    assert words.beginning_with("tr", 2) == [(34, "tree"), (9, "trees")]


@pytest.mark.parametrize(("layers", "found"), [(1, 1), (2, 0)])
def test_a_rare_word_of_a_small_layer_is_left_out_as_one_of_the_whole_index(
    store: LocalStore, layers: int, found: int
) -> None:
    words = tables(store, *[{"slipp": 1}, {"tree": 3000}][:layers])
    assert words.documents("slipp") == found
    assert len(words.sharing(["slipp"])) == found
    assert len(words.beginning_with("sli", 3)) == found
