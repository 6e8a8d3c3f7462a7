"""What every store promises, on every store."""

from __future__ import annotations

import gzip
import hashlib
import io
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.errors import MissingFile, StoreError
from crawlctl.tests.effort import examples
from crawlctl.tests.pipeline.store.conftest import ATOMIC_STORES

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.store.base import Store
    from crawlctl.tests.pipeline.store.conftest import Racer

SIX_MEGABYTES = bytes(range(256)) * 24576
TWELVE_MEGABYTES = SIX_MEGABYTES * 2

on_a_shared_store = settings(
    max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def names(store: Store, prefix: str = "") -> list[str]:
    return [file.name for file in store.list(prefix)]


def test_what_was_put_is_read(store: Store) -> None:
    store.put("docs/a", b"content")
    assert store.read("docs/a") == b"content"
    assert store.size("docs/a") == 7


def test_an_empty_file_is_a_file(store: Store) -> None:
    store.put("docs/empty", b"")
    with store.write("docs/empty-too") as sink:
        pass
    assert store.read("docs/empty") == b""
    assert store.read("docs/empty", 0, 10) == b""
    assert store.size("docs/empty") == 0
    assert (sink.bytes, sink.checksum) == (0, hashlib.sha256().hexdigest())
    assert names(store) == ["docs/empty", "docs/empty-too"]


@on_a_shared_store
@given(start=st.integers(0, 14), length=st.none() | st.integers(0, 14))
def test_a_range_is_what_a_slice_is(store: Store, start: int, length: int | None) -> None:
    content = b"0123456789"
    store.put("docs/digits", content)
    expected = content[start:] if length is None else content[start : start + length]
    assert store.read("docs/digits", start, length) == expected
    assert store.open("docs/digits").read(start, 99 if length is None else length) == expected


@pytest.mark.parametrize(("start", "length"), [(-1, None), (-1, 3), (0, -1)])
def test_a_range_before_the_beginning_is_an_error(store: Store, start: int, length: int | None) -> None:
    store.put("docs/a", b"content")
    with pytest.raises(ValueError, match="must not be negative"):
        store.read("docs/a", start, length)


def test_a_missing_file_is_an_error_of_its_own(store: Store) -> None:
    store.put("docs/a", b"content")
    for look in (store.size, store.open, store.read, lambda name: store.read(name, 5, 5)):
        for name in ("docs/b", "docs", "none/at/all"):
            with pytest.raises(MissingFile, match=f"{name} is not there; start the command again"):
                look(name)


def test_a_name_that_is_none_is_refused_by_every_call(store: Store) -> None:
    for call in (store.size, store.open, store.read, lambda name: store.put(name, b""), store.list):
        with pytest.raises(ValueError, match="name"):
            call("../outside")
    with pytest.raises(ValueError, match="cannot name"), store.write("../outside"):
        pass
    with pytest.raises(ValueError, match="cannot name"):
        store.delete(["../outside"])


def test_a_put_never_overwrites(store: Store) -> None:
    store.put("docs/a", b"first")
    store.put("docs/a", b"first")  # the same content: nothing to lose
    with pytest.raises(StoreError, match="never overwritten"):
        store.put("docs/a", b"second")
    assert store.read("docs/a") == b"first"


def test_create_tells_whose_content_is_there(store: Store) -> None:
    assert store.create("lease/1", b"mine")
    assert not store.create("lease/1", b"theirs")
    assert store.create("lease/1", b"mine")
    assert store.read("lease/1") == b"mine"


@pytest.mark.parametrize("content", [b"short", SIX_MEGABYTES, TWELVE_MEGABYTES], ids=len)
def test_a_written_file_holds_what_passed_through_the_sink(store: Store, content: bytes) -> None:
    with store.write("pages/a") as sink:
        for start in range(0, len(content), 1_000_003):
            assert sink.tell() == start
            sink.write(content[start : start + 1_000_003])
    assert sink.bytes == len(content) == store.size("pages/a")
    assert sink.checksum == hashlib.sha256(content).hexdigest()
    assert store.read("pages/a") == content
    assert store.open("pages/a").read(len(content) - 3, 10) == content[-3:]


def test_a_file_does_not_exist_before_its_end(store: Store) -> None:
    with store.write("pages/a") as sink:
        sink.write(b"x" * 100)
        with pytest.raises(ValueError, match="not written yet"):
            _ = sink.checksum
        if store.uri.startswith(("s3://", "hdfs://")):
            assert names(store) == []
    assert names(store) == ["pages/a"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("content", [b"short", SIX_MEGABYTES], ids=["short", "long"])
def test_nothing_is_left_of_a_write_that_was_broken_off(
    store: Store, error: type[BaseException], content: bytes
) -> None:
    with pytest.raises(error), store.write("pages/a") as sink:
        sink.write(content)
        raise error
    assert names(store) == []
    assert store.sweep("pages", time.time() + 3600, dry_run=True) == ()


@pytest.mark.parametrize("content", [b"second", SIX_MEGABYTES], ids=["short", "long"])
def test_a_write_never_overwrites(store: Store, content: bytes) -> None:
    store.put("pages/a", b"first")
    with pytest.raises(StoreError, match="never overwritten"), store.write("pages/a") as sink:
        sink.write(content)
    assert store.read("pages/a") == b"first"
    assert store.sweep("pages", time.time() + 3600, dry_run=True) == ()


def test_the_sink_is_a_binary_file_for_libraries(store: Store) -> None:
    with store.write("pages/a.gz") as sink:
        with gzip.GzipFile(fileobj=sink, mode="wb") as packed:
            packed.write(b"text" * 1000)
        with io.BufferedWriter(sink) as buffered:  # closes the sink, which publishes nothing
            buffered.write(b"tail")
        with pytest.raises(ValueError, match="closed"):
            sink.write(b"more")
    data = store.read("pages/a.gz")
    assert gzip.decompress(data[:-4]) == b"text" * 1000
    assert data.endswith(b"tail")


def test_a_listing_is_sorted_by_bytes_and_filtered_by_prefix(store: Store) -> None:
    made = [
        "webdb/1/a",
        "webdb/1-a",
        "webdb/1.a",
        "webdb/10/b",
        "webdb/2/c",
        "docs/z",
        "webdb2/x",
        "_S",
        "Z/y",
    ]
    for name in made:
        store.put(name, name.encode())
    assert names(store) == sorted(made)
    assert names(store, "webdb/") == ["webdb/1-a", "webdb/1.a", "webdb/1/a", "webdb/10/b", "webdb/2/c"]
    assert names(store, "webdb/1") == ["webdb/1-a", "webdb/1.a", "webdb/1/a", "webdb/10/b"]
    assert names(store, "webdb") == [*names(store, "webdb/"), "webdb2/x"]
    assert names(store, "webdb/1/") == ["webdb/1/a"]
    assert names(store, "nothing/here/") == []
    assert names(store, "docs/z/under/a/file") == []


def test_a_listing_tells_size_and_time(store: Store) -> None:
    before = time.time()
    store.put("docs/a", b"content")
    (file,) = store.list("docs/")
    assert file.bytes == 7
    assert before - 2 <= file.modified <= time.time() + 2


def test_deleting_leaves_the_others(store: Store) -> None:
    for name in ("docs/a/data", "docs/a/index", "docs/b/data"):
        store.put(name, b"")
    store.delete(["docs/a/data", "docs/never/was", "docs/a/data"])
    store.delete([])
    assert names(store) == ["docs/a/index", "docs/b/data"]
    store.put("docs/a/data2", b"")
    assert names(store) == ["docs/a/data2", "docs/a/index", "docs/b/data"]


@pytest.mark.parametrize("store", ATOMIC_STORES, indirect=True)
@pytest.mark.timeout(300)
def test_of_two_processes_exactly_one_creates_a_file(
    store: Store, start_racers: Callable[[str, int], list[Racer]]
) -> None:
    racers = start_racers("create", 2)
    assert [racer.answer() for racer in racers] == ["ready", "ready"]
    winners = []
    for number in range(40 if store.uri.startswith("hdfs://") else 200):
        for racer in racers if number % 2 else reversed(racers):
            racer.tell(f"snapshots/{number}")
        answers = [racer.answer().split() for racer in racers]
        (content,) = [data for won, data in answers if won == "1"]
        assert store.read(f"snapshots/{number}").decode() == content
        winners.append(content == answers[0][1])
    assert {True, False} == set(winners), "one process was always first: nothing was raced"
