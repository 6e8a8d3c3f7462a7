from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.errors import ConfigError, MissingFile, StoreUnavailable
from crawlctl.pipeline.store.open import open_store
from crawlctl.pipeline.store.s3 import store as s3

if TYPE_CHECKING:
    from collections.abc import Callable

RACER = Path(__file__).parents[1] / "racer.py"


def names(store: Any) -> list[str]:
    return [file.name for file in store.list()]


def test_the_endpoint_comes_from_the_usual_variable(
    s3_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_endpoint)
    store = open_store("s3://crawlctl-test/by-variable")
    store.put("docs/a", b"content")
    assert store.read("docs/a") == b"content"
    store.delete(["docs/a"])


@pytest.mark.slow
def test_a_whole_bucket_is_a_store(new_s3_store: Callable[..., Any]) -> None:
    root, below = new_s3_store(prefix=""), new_s3_store(prefix="some/prefix")
    root.put("ranks/root", b"1")
    below.put("ranks/below", b"2")
    assert "ranks/root" in names(root)
    assert "some/prefix/ranks/below" in names(root)
    assert names(below) == ["ranks/below"]
    root.delete(["ranks/root", "some/prefix/ranks/below"])


def test_objects_that_are_not_ours_are_not_listed(new_s3_store: Callable[..., Any]) -> None:
    store = new_s3_store()
    store.put("docs/a", b"")
    for key in ("docs/with space", "docs/.tmp-1", "docs/ünï"):
        address = store.address("docs/a")
        store.client().put_object(
            Bucket=address["Bucket"], Key=address["Key"][: -len("docs/a")] + key, Body=b""
        )
    assert names(store) == ["docs/a"]


@pytest.mark.slow
def test_a_listing_and_a_deletion_of_several_pages_are_whole(
    new_s3_store: Callable[..., Any], s3_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "7")
    monkeypatch.setattr(s3, "DELETE_BATCH", 9)
    store = new_s3_store()
    many = [f"docs/{number:05d}" for number in range(30)]
    for name in many:
        store.put(name, b"")
    assert names(store) == many
    store.delete(iter([*many[:20], "docs/gone"]))
    assert names(store) == many[20:]


@pytest.mark.integration
@pytest.mark.parametrize("s3_endpoint", ["versitygw"], indirect=True)
def test_more_objects_than_a_real_server_lists_at_once(new_s3_store: Callable[..., Any]) -> None:
    store = new_s3_store()
    many = [f"docs/{number:05d}" for number in range(1005)]
    threads = [
        threading.Thread(target=lambda part: [store.put(n, b"") for n in part], args=(many[i::4],))
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names(store) == many
    store.delete(iter(many))
    assert names(store) == []


@pytest.mark.slow
def test_a_fork_gets_connections_of_its_own(
    new_s3_store: Callable[..., Any], s3_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_s3_store()
    for number in range(5):
        store.put(f"docs/{number}", f"docs/{number}".encode())
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_endpoint)
    done = subprocess.run(
        [sys.executable, str(RACER), "fork", store.uri],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("ok\n", "")


def test_a_store_travels_to_another_process(new_s3_store: Callable[..., Any]) -> None:
    store = new_s3_store()
    store.put("docs/a", b"content")
    assert pickle.loads(pickle.dumps(store)).read("docs/a") == b"content"


@pytest.mark.slow
def test_a_missing_bucket_is_told_from_a_missing_file(new_s3_store: Callable[..., Any]) -> None:
    store = new_s3_store()
    store._bucket = "crawlctl-no-such-bucket"
    calls: list[Callable[[], object]] = [
        lambda: store.size("docs/a"),
        lambda: store.open("docs/a"),
        lambda: store.read("docs/a"),
        lambda: store.create("docs/a", b""),
        lambda: store.put("docs/a", b""),
        lambda: names(store),
        lambda: store.delete(["docs/a"]),
        lambda: store.sweep("docs", 0),
    ]
    for call in calls:
        with pytest.raises(
            StoreUnavailable, match="create the bucket, or correct the name in --store"
        ) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.integration
@pytest.mark.parametrize("s3_endpoint", ["versitygw"], indirect=True)
@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        ({"secret_key": "wrong", "access_key": "testaccess"}, "the secret is wrong"),
        ({"access_key": "unknown", "secret_key": "wrong"}, "AWS_ACCESS_KEY_ID"),
    ],
)
def test_a_real_server_refuses_wrong_keys(
    new_s3_store: Callable[..., Any], settings: dict[str, str], remedy: str
) -> None:
    with pytest.raises(StoreUnavailable, match=remedy):
        new_s3_store(**settings).read("docs/a")
    with pytest.raises(StoreUnavailable):
        new_s3_store(**settings).size("docs/a")


def test_without_credentials_the_variables_are_named(
    new_s3_store: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(StoreUnavailable, match="no credentials were found; check AWS_ACCESS_KEY_ID"):
        new_s3_store().read("docs/a")


def test_a_profile_that_is_none_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    for call in (lambda store: store.read("docs/a"), lambda store: list(store.list())):
        with pytest.raises(StoreUnavailable, match="check AWS_PROFILE"):
            call(open_store("s3://bucket/prefix"))


def test_an_endpoint_that_is_none_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "not a url")
    with pytest.raises(ConfigError, match="correct AWS_ENDPOINT_URL_S3"):
        open_store("s3://bucket/prefix").read("docs/a")


def test_a_bucket_name_that_is_none_is_explained() -> None:
    with pytest.raises(StoreUnavailable, match="correct the name in --store"):
        open_store("s3://not_a bucket!/prefix").read("docs/a")


def test_a_file_deleted_under_an_open_source_is_missing(new_s3_store: Callable[..., Any]) -> None:
    store = new_s3_store()
    store.put("docs/a", b"content")
    source = store.open("docs/a")
    store.delete(["docs/a"])
    with pytest.raises(MissingFile):
        source.read(0, 3)


@pytest.mark.slow
def test_a_source_asks_for_nothing_past_its_end(new_s3_store: Callable[..., Any]) -> None:
    store = new_s3_store()
    store.put("docs/a", b"content")
    source = store.open("docs/a")
    store.delete(["docs/a"])
    assert source.read(7, 3) == source.read(100, 3) == source.read(2, 0) == b""
