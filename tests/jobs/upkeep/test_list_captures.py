"""The tables of captures are made again from the archives, as a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from msgspec.structs import replace

from crawlctl.jobs.upkeep.list_captures import ListCaptures
from crawlctl.pipeline.captures.capture_table import tables_of
from crawlctl.pipeline.captures.capture_tiers import merged_rows
from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.crawl.work import files_of
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.repair.order import RelistOrder
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.tests.pipeline.captures.made_captures import B, all_captures, make_captured, unlist

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

pytestmark = pytest.mark.slow


def listed(folder: Path, draft: Snapshot, runner: Literal["inline", "local"], *rules: str) -> list[FileEntry]:
    order, lines = folder / "order", folder / "lines"
    order.write_bytes(encode_order(RelistOrder(store=str(folder / "crawl"), draft=draft, rules=rules)))
    lines.write_bytes(b"0\n1\n")
    args = ["--order", str(order), "--reducers", "2"]
    return list(files_of(run_job(ListCaptures, [lines], settings=RunnerSettings(name=runner), args=args)))


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_archives_without_captures_are_listed(tmp_path: Path, runner: Literal["inline", "local"]) -> None:
    store = LocalStore(tmp_path / "crawl")
    before = make_captured(store)
    wanted = all_captures(store)
    unlist(store)
    found = listed(tmp_path, load_current(store), runner)
    assert dict(merged_rows(store, tables_of(found))) == wanted
    pages = {entry.name: entry for entry in found if entry.kind == "pages"}
    assert pages == {entry.name: entry for entry in before.files_of("pages")}


def test_captures_without_archive_and_of_forgotten_pages_are_dropped(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    snapshot = make_captured(store)
    before = all_captures(store)
    same = {entry.name for entry in listed(tmp_path, snapshot, "inline")}
    assert same == {entry.name for entry in snapshot.files_of("captures")}, "nothing to do"
    lost = before[webdb_key(B)][0].file
    draft = replace(snapshot, files=tuple(entry for entry in snapshot.files if entry.name != lost))
    after = dict(merged_rows(store, tables_of(listed(tmp_path, draft, "inline"))))
    assert {one.file for some in after.values() for one in some} == {
        one.file for some in before.values() for one in some
    } - {lost}
    rest = dict(merged_rows(store, tables_of(listed(tmp_path, snapshot, "inline", "b.example:8080"))))
    assert rest == {key: captures for key, captures in before.items() if key != webdb_key(B)}
