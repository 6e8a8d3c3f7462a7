"""Every call to a real HDFS under every single fault, at every request it makes, and under endless ones."""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.errors import CommitConflict, StoreError, StoreUnavailable
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.store import retry_limits
from crawlctl.pipeline.store.hdfs import upload as hdfs_upload
from crawlctl.pipeline.store.open import open_store
from crawlctl.tests.pipeline.store.flaky_proxy import FlakyHdfs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.tests.hadoop.cluster import Cluster

pytestmark = [pytest.mark.integration, pytest.mark.hadoop, pytest.mark.timeout(300)]

LONG = os.urandom(5_000_000)
FAULTS = ["503 Busy", "403 RetriableException", "drop-before", "drop-after", "cut-body", "cut-request"]


def size(store: Any) -> None:
    assert store.size("docs/a") == 10


def read(store: Any) -> None:
    assert store.read("docs/a") == b"0123456789"


def read_a_range(store: Any) -> None:
    assert store.read("docs/a", 2, 3) == b"234"


def read_twice(store: Any) -> None:
    # The second goes straight to the datanode of the first.
    assert [store.read("docs/a", start, 3) for start in (2, 5)] == [b"234", b"567"]


def read_past_the_end(store: Any) -> None:
    assert store.read("docs/a", 20, 3) == b""


def create(store: Any) -> None:
    assert store.create("docs/new", b"mine")
    assert_holds(store, b"mine")


def create_what_is_taken(store: Any) -> None:
    assert not store.create("docs/a", b"mine")
    assert store.calm.read("docs/a") == b"0123456789"


def write_short(store: Any) -> None:
    with store.write("docs/new") as sink:
        sink.write(b"short")
    assert (sink.bytes, sink.checksum) == (5, hashlib.sha256(b"short").hexdigest())
    assert_holds(store, b"short")


def write_long(store: Any) -> None:
    with store.write("docs/new") as sink:
        for start in range(0, len(LONG), 700_000):
            sink.write(LONG[start : start + 700_000])
    assert (sink.bytes, sink.checksum) == (len(LONG), hashlib.sha256(LONG).hexdigest())
    assert_holds(store, LONG)


def list_files(store: Any) -> None:
    assert [file.name for file in store.list("docs/")] == ["docs/a", "docs/b"]


def delete(store: Any) -> None:
    store.delete(["docs/a", "docs/b"])
    assert list(store.calm.list()) == []


def sweep(store: Any) -> None:
    assert store.sweep("docs", time.time() - 60) == ()


CALLS = [
    size,
    read,
    read_a_range,
    read_twice,
    read_past_the_end,
    create,
    create_what_is_taken,
    write_short,
    write_long,
    list_files,
    delete,
    sweep,
]
CHANGES = {create, write_short, write_long, delete}


def assert_holds(store: Any, content: bytes) -> None:
    assert store.calm.read("docs/new") == content
    assert store.calm.sweep("docs", time.time() + 60, dry_run=True) == ()


@pytest.fixture(scope="module")
def proxy(hadoop: Cluster) -> Iterator[Any]:
    flaky = FlakyHdfs(hadoop.webhdfs)
    yield flaky
    flaky.close()


@pytest.fixture
def prepared(hdfs_uri: str, proxy: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Return a function that makes a store behind the proxy; its `calm` goes to the cluster directly."""
    monkeypatch.setattr(retry_limits, "LONGEST_PAUSE", 0.05)
    folders = iter(range(1000))

    def make(like: Any = None) -> Any:
        uri = f"{hdfs_uri}/{next(folders)}" if like is None else like.uri
        calm = open_store(uri)
        if like is None:
            calm.put("docs/a", b"0123456789")
            calm.put("docs/b", b"")
        with monkeypatch.context() as patch:
            patch.setenv("CRAWLCTL_WEBHDFS", proxy.endpoint)
            store: Any = open_store(uri)
        store.calm = calm
        return store

    yield make
    proxy.plan()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", CALLS)
def test_any_single_fault_is_survived(
    prepared: Callable[..., Any], proxy: Any, call: Callable[[Any], None], fault: str
) -> None:
    store = prepared()
    proxy.plan()
    call(store)
    requests = len(proxy.requests)
    assert requests
    for number in range(1, requests + 1):
        store = prepared() if call in CHANGES else prepared(like=store)
        proxy.plan({number: fault})
        call(store)
        assert len(proxy.requests) >= number, "the fault was not met"


@pytest.mark.parametrize("fault", ["500 RuntimeException", "drop-after", "403 StandbyException"])
@pytest.mark.parametrize("call", CALLS)
def test_a_fault_without_end_is_one_line_with_a_remedy(
    prepared: Callable[..., Any],
    proxy: Any,
    call: Callable[[Any], None],
    fault: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retry_limits, "NEW_SERVICE_SECONDS", 0.3)
    store = prepared()
    proxy.plan(always=fault)
    with pytest.raises(StoreUnavailable, match=r"again later|check that the cluster runs") as caught:
        call(store)
    assert str(caught.value).startswith(store.uri)
    assert "\n" not in str(caught.value)


def test_a_create_that_lost_and_whose_answer_is_lost_has_lost(
    prepared: Callable[..., Any], proxy: Any
) -> None:
    store = prepared()
    proxy.plan({3: "drop-after"})
    assert not store.create("docs/a", b"mine")
    assert "op=RENAME" in proxy.requests[2]


def test_a_commit_whose_answers_are_lost_is_a_commit(prepared: Callable[..., Any], proxy: Any) -> None:
    store = prepared()
    first = current_snapshot = create_crawl(store, 1)
    for number in (2, 3):
        proxy.plan({number: "drop-after"})
        current_snapshot = commit(store, current_snapshot, files=(), round_number=1)
        assert load_current(store.calm) == current_snapshot
    proxy.plan({3: "drop-after"})
    with pytest.raises(CommitConflict):
        commit(store, first, files=(), round_number=1)


def test_what_was_lost_and_is_kept_no_more_is_not_made_up(
    prepared: Callable[..., Any], proxy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hdfs_upload, "KEPT_CHUNKS", 2)
    store = prepared()
    proxy.plan({2: "drop-before"})
    with (
        pytest.raises(StoreUnavailable, match="a datanode lost data that it had received"),
        store.write("docs/new") as sink,
    ):
        sink.write(LONG)
    assert [file.name for file in store.calm.list()] == ["docs/a", "docs/b"]


@pytest.mark.parametrize("content", [b"short", LONG], ids=["short", "long"])
def test_a_write_that_fails_for_good_leaves_nothing(
    prepared: Callable[..., Any], proxy: Any, content: bytes
) -> None:
    for number in (1, 2, 3):
        store = prepared()
        proxy.plan({number: "403 DSQuotaExceededException"})
        with pytest.raises(StoreUnavailable, match="crawlctl gc"), store.write("docs/new") as sink:
            sink.write(content)
        assert [file.name for file in store.calm.list()] == ["docs/a", "docs/b"]
        assert store.calm.sweep("docs", time.time() + 60, dry_run=True) == ()


def test_a_write_that_met_another_file_of_its_name_is_removed(
    prepared: Callable[..., Any], proxy: Any
) -> None:
    store = prepared()
    with pytest.raises(StoreError, match="never overwritten"), store.write("docs/new") as sink:
        sink.write(LONG)
        store.calm.put("docs/new", b"another")
    assert_holds(store, b"another")
