"""Cursors lead through the results of one snapshot."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from crawlctl.pipeline.serve.api.search_cursor import SearchCursor, cursor_of
from crawlctl.pipeline.serve.problem import Problem
from crawlctl.pipeline.serve.served_crawl import ServedCrawl, ServeOptions
from crawlctl.pipeline.serve.web_app import app_of
from crawlctl.pipeline.state.layout import snapshot_name
from crawlctl.pipeline.state.snapshots import commit
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from pathlib import Path


@given(
    st.integers(1, 10**17),
    st.text("0123456789abcdef", min_size=16, max_size=32),
    st.integers(0, 999),
)
def test_a_cursor_is_read_as_it_was_written(number: int, writer: str, offset: int) -> None:
    cursor = SearchCursor(number, writer, offset)
    assert cursor_of(str(cursor)) == SearchCursor(number, writer[:16], offset)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "0-0123456789abcdef-1",
        "1-0123456789abcdef-1000",
        "1-0123456789abcdef-1\n",
        "1-0123456789ABCDEF-1",
    ],
)
def test_another_text_is_no_cursor(text: str) -> None:
    with pytest.raises(Problem, match="take `next` of an answer"):
        cursor_of(text)


def client_of(store: LocalStore) -> TestClient:
    return TestClient(app_of(ServedCrawl(ServeOptions(store.uri))), "http://localhost")


def pages(first: int, last: int) -> list[Page]:
    return [Page(f"https://a.org/{number}", f"Page {number}", "word") for number in range(first, last)]


def test_results_go_on_in_their_snapshot_until_it_is_deleted(tmp_path: Path) -> None:
    store, newer = LocalStore(tmp_path / "crawl"), LocalStore(tmp_path / "newer")
    first = write_index(store, [pages(0, 5)])
    before = client_of(store).get("/api/search?q=word&limit=3").json()
    later = write_index(newer, [pages(5, 12)])
    shutil.copytree(newer.root, store.root, dirs_exist_ok=True, ignore=shutil.ignore_patterns("snapshots"))
    commit(store, first, files=later.files, round_number=2)

    client = client_of(store)  # its open index is that of the second snapshot
    assert client.get("/api/search?q=word").json()["total"] == 7
    after = client.get(before["next"])
    found = [one["url"] for one in (*before["results"], *after.json()["results"])]
    assert sorted(found) == [page.url for page in pages(0, 5)]
    assert after.json()["snapshot"] == before["snapshot"] == first.number
    assert client.get(before["next"], headers={"If-None-Match": after.headers["etag"]}).status_code == 304

    (store.root / snapshot_name(first.number)).unlink()
    gone = client_of(store).get(before["next"])
    assert (gone.status_code, gone.headers["content-type"]) == (410, "application/problem+json")
    assert "search again without it" in gone.json()["detail"]


def test_a_worker_that_is_behind_opens_the_snapshot_of_a_cursor(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    first = write_index(store, [pages(0, 5)])
    behind = client_of(store)
    assert behind.get("/api/search?q=word").json()["snapshot"] == first.number
    commit(store, first, files=first.files, round_number=2)
    following = client_of(store).get("/api/search?q=word&limit=3").json()["next"]
    assert behind.get(following).json()["snapshot"] == first.number + 1


def test_a_cursor_of_another_crawl_in_the_same_place_is_gone(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    snapshot = write_index(store, [pages(0, 5)])
    cursor = SearchCursor(snapshot.number, "0123456789abcdef", 3)
    assert client_of(store).get(f"/api/search?q=word&cursor={cursor}").status_code == 410
