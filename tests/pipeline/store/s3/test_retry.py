"""An S3 service that is away for seconds is waited for; one that never answered is not waited for long."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.store import retry_limits
from crawlctl.tests.pipeline.store.flaky_proxy import FlakyProxy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow

AWAY = 1.0  # seconds; botocore's single try here is over at once


@pytest.fixture
def restarted(s3_endpoint: str) -> Iterator[FlakyProxy]:
    """A server of the test's own that can go away."""
    proxy = FlakyProxy(s3_endpoint)
    yield proxy
    proxy.close()


@pytest.fixture
def waiting(new_s3_store: Callable[..., Any], restarted: FlakyProxy) -> Any:
    """A store whose client leaves all tries but the first to ours."""
    return new_s3_store(endpoint=restarted.endpoint, attempts=1)


def create(store: Any) -> None:
    assert store.create("docs/new", b"mine")


def write(store: Any) -> None:
    with store.write("docs/new") as sink:
        sink.write(b"mine")


def read(store: Any) -> None:
    assert store.read("docs/a") == b"0123456789"


def list_files(store: Any) -> None:
    assert [file.name for file in store.list("docs/a")] == ["docs/a"]


@pytest.mark.parametrize("call", [create, write, read, list_files])
def test_a_service_that_is_restarted_is_waited_for(
    waiting: Any, restarted: FlakyProxy, call: Callable[[Any], None]
) -> None:
    waiting.put("docs/a", b"0123456789")
    restarted.go_away()
    returns = threading.Timer(AWAY, restarted.come_back)
    returns.start()
    call(waiting)
    returns.join()


@pytest.mark.parametrize("fault", ["503 SlowDown", "503 ServiceUnavailable", "500 InternalError"])
def test_a_service_that_asks_for_less_is_asked_again_later(
    waiting: Any, restarted: FlakyProxy, fault: str
) -> None:
    waiting.put("docs/a", b"0123456789")
    restarted.plan(always=fault)
    recovers = threading.Timer(AWAY, restarted.plan)
    recovers.start()
    create(waiting)
    recovers.join()
    assert waiting.read("docs/new") == b"mine"


def test_a_service_that_never_answered_is_not_waited_for_long(
    new_s3_store: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry_limits, "KNOWN_SERVICE_SECONDS", 600)
    monkeypatch.setattr(retry_limits, "NEW_SERVICE_SECONDS", 0.5)
    began = time.monotonic()
    with pytest.raises(StoreUnavailable, match="check the network"):
        new_s3_store(endpoint="http://127.0.0.1:1", attempts=1).read("docs/a")
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("fault", ["403 AccessDenied", "501 NotImplemented", "404 NoSuchBucket"])
def test_what_will_not_pass_is_told_at_once(waiting: Any, restarted: FlakyProxy, fault: str) -> None:
    waiting.put("docs/a", b"0123456789")
    restarted.plan(always=fault)
    with pytest.raises(StoreUnavailable):
        waiting.put("docs/b", b"")
    assert sum(request.startswith("PUT") for request in restarted.requests) == 1


def test_retries_end(waiting: Any, restarted: FlakyProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting.put("docs/a", b"0123456789")
    monkeypatch.setattr(retry_limits, "KNOWN_SERVICE_SECONDS", 0.5)
    restarted.go_away()
    with pytest.raises(StoreUnavailable, match="check the network"):
        waiting.read("docs/a")
    restarted.come_back()
    read(waiting)
