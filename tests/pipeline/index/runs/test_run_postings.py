from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileWriter
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.fields import OFFSET_BITS
from crawlctl.pipeline.index.runs.run_files import DOCUMENTS_KEY, RunFiles, new_run, runs_of
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.tests.pipeline.index.runs.whole_run import WholeRun

if TYPE_CHECKING:
    from crawlctl.pipeline.store.local.store import LocalStore


SOUND = b"\1\0\0\0a" + bytes([1, 5, 1, 1])  # document 4 has it as its first word


@pytest.fixture
def files(store: LocalStore) -> RunFiles:
    builder = RunBuilder()
    for number in range(20):
        builder.add(Document(f"http://a.example/{number}", text="apple " * number + "pear", title="fruits"))
    (run,) = runs_of(builder.write(store, partition=0, round_number=1))
    return run


def with_postings(
    store: LocalStore, files: RunFiles, value: bytes, metadata: dict[str, str], slices: int = 1
) -> WholeRun:
    data, index = BytesIO(), BytesIO()
    with MapFileWriter(data, index, metadata=metadata) as writer:
        for number in range(slices):
            writer.append(b"a%d" % number, value)
    other = new_run(0, 1)
    store.put(other.postings_data, data.getvalue())
    store.put(other.postings_index, index.getvalue())
    return WholeRun(
        store, files._replace(postings_data=other.postings_data, postings_index=other.postings_index)
    )


def test_a_list_has_the_positions_in_all_fields(store: LocalStore, files: RunFiles) -> None:
    lists = dict(WholeRun(store, files).lists())
    apples = lists[b"apple"]
    assert apples.documents == list(range(1, 20))
    assert apples.positions[2] == [0, 1, 2]
    assert lists[b"fruits"].positions == [[2 << OFFSET_BITS]] * 20


def test_slices_hold_the_lists_of_all_terms_in_order(store: LocalStore, files: RunFiles) -> None:
    run = WholeRun(store, files)
    ((terms, lists),) = run.slices()
    plain = dict(run.lists())
    assert terms.tolist() == list(plain)
    assert lists.counts.tolist() == [len(found.documents) for found in plain.values()]
    assert lists.documents.tolist() == [ordinal for found in plain.values() for ordinal in found.documents]
    assert lists.positions.tolist() == [
        position for found in plain.values() for held in found.positions for position in held
    ]


@pytest.mark.parametrize("value", [b"", b"\0", SOUND[:-1], SOUND + b"\1", SOUND[:6] + b"\6\1\1"])
def test_a_damaged_list_is_named_with_its_file(store: LocalStore, files: RunFiles, value: bytes) -> None:
    run = with_postings(store, files, value, {DOCUMENTS_KEY: "5"})
    with pytest.raises(CorruptFile, match=r"postings/00000/.*/data: damaged.*posting list"):
        list(run.lists())
    with pytest.raises(CorruptFile, match=r"postings/00000/.*/data: damaged.*posting list"):
        list(run.slices())


def test_slices_out_of_order_are_damage(store: LocalStore, files: RunFiles) -> None:
    run = with_postings(store, files, SOUND, {DOCUMENTS_KEY: "5"}, slices=2)
    with pytest.raises(CorruptFile, match="in order"):
        list(run.slices())


@pytest.mark.parametrize("count", ["", "-1", "²", "many"])
def test_postings_that_do_not_count_documents_are_damaged(
    store: LocalStore, files: RunFiles, count: str
) -> None:
    run = with_postings(store, files, SOUND, {DOCUMENTS_KEY: count})
    with pytest.raises(CorruptFile, match="how many documents"):
        list(run.slices())
