"""Where a crawl may be copied to, and where not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.copies.copy_records import (
    copy_state,
    finished_partition,
    forget_steps,
    put_partition,
    put_record,
)
from crawlctl.pipeline.errors import ConfigError, CorruptFile, CrawlctlError, StoreError
from crawlctl.pipeline.state.layout import copied_partition_name, copy_name, snapshot_name
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current, publish
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.copies.copy_records import CopyState


@pytest.fixture
def source(tmp_path: Path) -> LocalStore:
    store = LocalStore(tmp_path / "source")
    create_crawl(store, 4)
    go_on(store)
    return store


@pytest.fixture
def destination(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "destination")


def go_on(store: LocalStore) -> None:
    now = load_current(store)
    commit(store, now, files=now.files, round_number=now.round + 1)


def standing(source: LocalStore, destination: LocalStore, partitions: int | None = None) -> CopyState:
    return copy_state(source, load_current(source), destination, partitions)


def begin(source: LocalStore, destination: LocalStore, partitions: int | None = None) -> CopyState:
    stands = standing(source, destination, partitions)
    if not stands.is_begun:
        put_record(destination, stands.record)
    return stands


def finish(source: LocalStore, destination: LocalStore) -> None:
    begin(source, destination)
    publish(destination, load_current(source))
    forget_steps(destination, load_current(source).number)


def write(store: LocalStore, name: str) -> FileEntry:
    with store.write(name) as sink:
        sink.write(b"content")
    return FileEntry("webdb", 0, name, sink.bytes, 1, sink.checksum)


def test_an_empty_place_gets_a_copy_of_the_same_number_and_writer(
    source: LocalStore, destination: LocalStore
) -> None:
    stands = standing(source, destination)
    assert not stands.is_begun and not stands.is_committed
    assert stands.record.partitions == 4
    assert stands.record.becomes == stands.record.writer == load_current(source).writer
    assert standing(source, destination, 7).record.becomes != stands.record.writer


def test_a_copy_that_was_begun_goes_on_as_it_was(source: LocalStore, destination: LocalStore) -> None:
    first = begin(source, destination, 7)
    again = begin(source, destination)
    assert again.is_begun and not again.is_committed
    assert again.record == first.record


def test_a_copy_that_is_finished_is_known_as_such(source: LocalStore, destination: LocalStore) -> None:
    finish(source, destination)
    stands = standing(source, destination)
    assert stands.is_begun and stands.is_committed


@pytest.mark.parametrize("finished", [True, False])
def test_a_copy_that_is_behind_its_source_is_brought_up_to_date(
    source: LocalStore, destination: LocalStore, finished: bool
) -> None:
    (finish if finished else begin)(source, destination)
    go_on(source)
    stands = standing(source, destination)
    assert not stands.is_begun and not stands.is_committed
    source.delete([snapshot_name(2)])  # as gc does; the place is still the same
    assert standing(source, destination).record.number == 3


def refusal(source: LocalStore, destination: LocalStore, partitions: int | None = None) -> str:
    with pytest.raises(CrawlctlError) as caught:
        standing(source, destination, partitions)
    assert isinstance(caught.value, StoreError | ConfigError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_crawl_of_its_own_is_left_alone(source: LocalStore, destination: LocalStore) -> None:
    create_crawl(destination, 4)
    assert "holds a crawl that is no copy" in refusal(source, destination)


def test_files_of_somebody_else_are_in_the_way(source: LocalStore, destination: LocalStore) -> None:
    destination.put("notes/mine", b"not in a folder of ours")
    standing(source, destination)
    write(destination, "webdb/00000/00000001-a/data")
    assert "is in the way of a copy" in refusal(source, destination)


def test_a_copy_that_went_on_by_itself_is_left_alone(source: LocalStore, destination: LocalStore) -> None:
    finish(source, destination)
    go_on(destination)
    go_on(source)
    assert "has changed since" in refusal(source, destination)
    go_on(source)
    assert "has changed since" in refusal(source, destination)


def test_a_copy_of_another_crawl_is_left_alone(
    source: LocalStore, destination: LocalStore, tmp_path: Path
) -> None:
    finish(source, destination)
    other = LocalStore(tmp_path / "other")
    create_crawl(other, 4)
    assert "it is ahead, or a copy of another crawl" in refusal(other, destination)
    go_on(other)
    assert "a copy of another crawl" in refusal(other, destination)
    go_on(other)
    other.delete([snapshot_name(2)])
    assert "a copy of another crawl" in refusal(other, destination)


def test_a_copy_keeps_its_number_of_partitions(source: LocalStore, destination: LocalStore) -> None:
    begin(source, destination, 7)
    assert "give --partitions 7" in refusal(source, destination, 8)
    go_on(source)
    assert standing(source, destination).record.partitions == 7


def test_a_damaged_record_is_an_error(source: LocalStore, destination: LocalStore) -> None:
    destination.put(copy_name(1), b"{}")
    with pytest.raises(CorruptFile, match="not the record of a copy"):
        standing(source, destination)


def test_the_first_attempt_to_finish_a_partition_counts(destination: LocalStore) -> None:
    files = [write(destination, f"webdb/00000/00000001-{name}/data") for name in "ab"]
    assert finished_partition(destination, 2, 0) is None
    assert put_partition(destination, 2, 0, files[:1]) == (files[0],)
    assert put_partition(destination, 2, 0, files[1:]) == (files[0],)
    assert finished_partition(destination, 2, 0) == (files[0],)
    assert finished_partition(destination, 2, 1) is None


def test_a_partition_whose_files_are_gone_is_not_finished(destination: LocalStore) -> None:
    entry = write(destination, "webdb/00000/00000001-a/data")
    put_partition(destination, 2, 0, [entry])
    destination.delete([entry.name])
    assert finished_partition(destination, 2, 0) is None
    other = write(destination, "webdb/00000/00000001-b/data")
    assert put_partition(destination, 2, 0, [other]) == (other,)


def test_in_the_end_only_the_record_is_left(source: LocalStore, destination: LocalStore) -> None:
    begin(source, destination)
    go_on(source)
    begin(source, destination)
    put_partition(destination, 3, 0, [])
    assert destination.size(copied_partition_name(3, 0)) == 0
    forget_steps(destination, 3)
    assert [file.name for file in destination.list("copies/")] == [copy_name(3)]
