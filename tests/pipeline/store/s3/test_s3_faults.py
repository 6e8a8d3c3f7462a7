"""Every call to S3 under every single fault, at every request it makes, and under faults that do not end."""

from __future__ import annotations

import hashlib
import os
import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.errors import CommitConflict, StoreError, StoreUnavailable
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.store import retry_limits

if TYPE_CHECKING:
    from collections.abc import Callable

# A refusal and a lost answer will do for every day; each retry waits, so the rest is left to integration.
FAULTS = [
    "503 SlowDown",
    "drop-after",
    *(
        pytest.param(fault, marks=pytest.mark.integration)
        for fault in ("500 InternalError", "drop-before", "cut-body", "stall")
    ),
]
MINIMUM = 5 << 20  # bytes of a part, by the rules of S3; moto is told to take less
LONG = {"moto": os.urandom(100) + b"second part", "versitygw": os.urandom(MINIMUM) + b"second part"}

spoilable: dict[tuple[str, Any], int] = {}  # requests of a call that goes well, by server and call


def size(store: Any) -> None:
    assert store.size("docs/a") == 10


def read(store: Any) -> None:
    assert store.read("docs/a") == b"0123456789"


def read_a_range(store: Any) -> None:
    assert store.read("docs/a", 2, 3) == b"234"


def read_past_the_end(store: Any) -> None:
    assert store.read("docs/a", 20, 3) == b""


def open_and_read(store: Any) -> None:
    assert store.open("docs/a").read(8, 5) == b"89"


def put(store: Any) -> None:
    store.put("docs/new", b"new")
    assert_holds(store, b"new")


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
        sink.write(store.long)
    assert (sink.bytes, sink.checksum) == (len(store.long), hashlib.sha256(store.long).hexdigest())
    assert store.calm.read("docs/new") == store.long  # an upload begun twice may be left for gc


def list_files(store: Any) -> None:
    assert [file.name for file in store.list("docs/")] == ["docs/a", "docs/b"]


def delete(store: Any) -> None:
    store.delete(["docs/a", "docs/b"])
    assert list(store.calm.list()) == []


def sweep(store: Any) -> None:
    store.calm.client().create_multipart_upload(**store.calm.address("docs/never"))
    assert [file.name for file in store.sweep("docs", time.time() + 60)][:1] in (["docs/never"], [])
    assert store.calm.sweep("docs", time.time() + 60) == ()


CALLS = [
    size,
    read,
    read_a_range,
    read_past_the_end,
    open_and_read,
    put,
    create,
    create_what_is_taken,
    write_short,
    write_long,
    list_files,
    delete,
    sweep,
]
CHANGES = {put, create, write_short, write_long, delete}


def assert_holds(store: Any, content: bytes) -> None:
    assert store.calm.read("docs/new") == content
    assert store.calm.sweep("docs", time.time() + 60, dry_run=True) == ()


@pytest.fixture
def prepared(
    new_s3_store: Callable[..., Any],
    proxy: Any,
    shared_clients: None,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Any]:
    """Return a function that makes a store behind the proxy; its `calm` goes to the server directly."""
    monkeypatch.setattr(retry_limits, "KNOWN_SERVICE_SECONDS", 0)  # botocore's own tries are counted here
    monkeypatch.setattr(retry_limits, "NEW_SERVICE_SECONDS", 0)
    server = "moto" if "[moto" in request.node.name else "versitygw"
    part_bytes = 100 if server == "moto" else MINIMUM
    if server == "moto":
        monkeypatch.setattr("moto.s3.models.S3_UPLOAD_PART_MIN_SIZE", 1)

    def make(**settings: Any) -> Any:
        calm = new_s3_store()
        calm.put("docs/a", b"0123456789")
        calm.put("docs/b", b"")
        prefix = calm.address("docs/a")["Key"].removesuffix("/docs/a")
        store = new_s3_store(prefix, part_bytes, **{"endpoint": proxy.endpoint, **settings})
        store.calm, store.long, store.server = calm, LONG[server], server
        return store

    return make


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", CALLS)
def test_any_single_fault_is_survived(
    prepared: Callable[..., Any], proxy: Any, call: Callable[[Any], None], fault: str
) -> None:
    tries = {"read_timeout": 0.3, "attempts": 9} if fault == "stall" else {}
    store = prepared(**tries)
    if (store.server, call) not in spoilable:
        proxy.plan()
        call(store)
        spoilable[store.server, call] = len(proxy.requests)
        assert proxy.requests
        store = prepared(**tries)
    for number in range(1, spoilable[store.server, call] + 1):
        proxy.plan({number: fault})
        call(store)
        assert len(proxy.requests) >= number, "the fault was not met"
        if call in CHANGES:
            store = prepared(**tries)


@pytest.mark.parametrize("fault", ["500 InternalError", "drop-after", "refused"])
@pytest.mark.parametrize("call", CALLS)
def test_a_fault_without_end_is_one_line_with_a_remedy(
    prepared: Callable[..., Any], proxy: Any, call: Callable[[Any], None], fault: str
) -> None:
    closed = {"endpoint": "http://127.0.0.1:1"} if fault == "refused" else {}
    store = prepared(attempts=2, **closed)
    proxy.plan(always=fault)
    with pytest.raises(StoreUnavailable) as caught:
        call(store)
    message = str(caught.value)
    assert message.startswith("s3://crawlctl-test/")
    assert re.search("again later|check the network", message)
    assert "\n" not in message


@pytest.mark.slow
@pytest.mark.parametrize("attempts", [1, 3])
def test_a_create_whose_answer_is_lost_is_settled_by_what_is_there(
    prepared: Callable[..., Any], proxy: Any, attempts: int
) -> None:
    for fault in ("drop-after", "500 InternalError"):
        store = prepared(attempts=attempts)
        proxy.plan({1: fault})
        lost_for_good = fault[0] == "5" and attempts == 1
        if lost_for_good:  # never carried out, and never tried again
            with pytest.raises(StoreUnavailable):
                store.create("docs/new", b"mine")
        else:
            assert store.create("docs/new", b"mine")
            assert not store.create("docs/new", b"theirs")
            assert store.calm.read("docs/new") == b"mine"


def test_a_create_that_lost_and_whose_answer_is_lost_has_lost(
    prepared: Callable[..., Any], proxy: Any
) -> None:
    for attempts in (1, 3):
        store = prepared(attempts=attempts)
        proxy.plan({1: "drop-after"})
        assert not store.create("docs/a", b"mine")


def test_two_conditional_writes_that_meet_are_tried_again(prepared: Callable[..., Any], proxy: Any) -> None:
    store = prepared()
    proxy.plan({1: "409 ConditionalRequestConflict", 2: "409 ConditionalRequestConflict"})
    assert store.create("docs/new", b"mine")
    proxy.plan(always="409 ConditionalRequestConflict")
    with pytest.raises(StoreUnavailable, match="ConditionalRequestConflict"):
        store.create("docs/other", b"mine")
    assert len(proxy.requests) > 2


def test_a_name_taken_and_freed_again_is_not_ours(prepared: Callable[..., Any], proxy: Any) -> None:
    store = prepared()
    proxy.plan({1: "412 PreconditionFailed"})
    assert not store.create("docs/new", b"mine")


def test_an_upload_completed_although_every_answer_was_lost_is_written(
    prepared: Callable[..., Any], proxy: Any
) -> None:
    store = prepared(attempts=1)
    proxy.plan({4: "drop-after"})
    with store.write("docs/new") as sink:
        sink.write(store.long)
    assert "complete" not in proxy.requests[3]
    assert proxy.requests[3].startswith("POST")
    assert proxy.requests[4].startswith("HEAD")
    assert_holds(store, store.long)


def test_an_upload_that_met_another_file_of_its_name_is_aborted(
    prepared: Callable[..., Any], proxy: Any
) -> None:
    store = prepared()
    with pytest.raises(StoreError, match="never overwritten"), store.write("docs/new") as sink:
        sink.write(store.long)
        store.calm.put("docs/new", b"another")
    assert_holds(store, b"another")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_an_upload_that_fails_for_good_leaves_nothing(
    prepared: Callable[..., Any], proxy: Any, number: int
) -> None:
    store = prepared(attempts=1)
    proxy.plan({number: "403 AccessDenied"})
    with pytest.raises(StoreUnavailable, match="let the user or role"), store.write("docs/new") as sink:
        sink.write(store.long)
    assert [file.name for file in store.calm.list()] == ["docs/a", "docs/b"]
    assert store.calm.sweep("docs", time.time() + 60, dry_run=True) == ()


def test_an_upload_that_cannot_even_be_aborted_raises_the_first_error(
    prepared: Callable[..., Any], proxy: Any
) -> None:
    store = prepared(attempts=1)
    proxy.plan({2: "403 AccessDenied", 3: "500 InternalError"})
    with pytest.raises(StoreUnavailable, match="AccessDenied"), store.write("docs/new") as sink:
        sink.write(store.long)
    assert proxy.requests[2].startswith("DELETE")
    assert [file.name for file in store.calm.sweep("docs", time.time() + 60)] == ["docs/new"]


def test_a_body_that_always_ends_early_is_never_returned(prepared: Callable[..., Any], proxy: Any) -> None:
    store = prepared()
    proxy.plan(always="cut-body")
    for part in ((), (0, 8)):
        with pytest.raises(StoreUnavailable, match="check the network"):
            store.read("docs/a", *part)


def test_a_server_that_ignores_ranges_is_refused(prepared: Callable[..., Any], proxy: Any) -> None:
    store = prepared()
    proxy.plan({1: "200 Whole"})
    with pytest.raises(StoreUnavailable, match="ignores Range"):
        store.read("docs/a", 2, 3)


def test_keys_that_a_deletion_leaves_are_named(prepared: Callable[..., Any], proxy: Any) -> None:
    store = prepared()
    proxy.plan({1: "refuse-keys"})
    with pytest.raises(
        StoreUnavailable, match=r"docs/a \(and 1 more\): .*AccessDenied.*; let the user or role"
    ):
        store.delete(["docs/a", "docs/b"])


@pytest.mark.slow
def test_a_commit_whose_answers_are_lost_is_a_commit(prepared: Callable[..., Any], proxy: Any) -> None:
    store = prepared(read_timeout=0.3, attempts=9)
    first = current = create_crawl(store, 1)
    for fault in ("drop-after", "500 InternalError", "stall"):
        proxy.plan({1: fault, 3: fault})
        current = commit(store, current, files=(), round_number=1)
        assert load_current(store.calm) == current
    proxy.plan({1: "drop-after"})
    with pytest.raises(CommitConflict):
        commit(store, first, files=(), round_number=1)
