"""`crawlctl gc` deletes what is left of forgotten pages."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.crawl.upkeep import purging
from crawlctl.pipeline.state.layout import goal_name
from crawlctl.pipeline.state.snapshots import load_current, snapshot_numbers
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import stable_hash, webdb_key
from crawlctl.tests.comparison import crawled
from crawlctl.tests.pipeline.captures.made_captures import all_captures
from crawlctl.tests.pipeline.commands.damaged_crawl import linked_copy
from crawlctl.tests.pipeline.commands.live_site import LiveCrawl, crawled_site, live

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.commands.conftest import Shell
    from crawlctl.tests.pipeline.commands.damaged_crawl import SmallCrawl

pytestmark = pytest.mark.slow

__all__ = ["crawled_site", "live"]


def collected(shell: Shell, folder: Path, *rules: str) -> str:
    forgotten = ("--set", f"scope.forgotten=[{', '.join(rules)}]", "--set", "runner.name=inline")
    return shell(*forgotten, "gc", "--store", str(folder))


def holds(folder: Path, text: bytes) -> list[str]:
    """Return the archives and WebDB parts in which a text can be read."""
    found = []
    for path in [*folder.glob("pages/*/*"), *folder.glob("webdb/*/*/data"), *folder.glob("ranks/*/*/url")]:
        data = path.read_bytes()
        plain = gzip.decompress(data) if path.suffix == ".gz" else data
        if text in plain:
            found.append(str(path))
    return found


def is_compared(folder: Path, url: str) -> bool:
    """Return whether a file says that the page was compared for near duplicates."""
    packed = stable_hash(url).to_bytes(8, "little")
    return any(packed in path.read_bytes() for path in folder.glob("compared/*/*"))


def test_forgotten_pages_leave_webdb_archive_index_and_all_snapshots(
    shell: Shell, small: SmallCrawl, tmp_path: Path
) -> None:
    folder = linked_copy(small.folder, tmp_path / "crawl")
    store, before = LocalStore(folder), crawled(LocalStore(small.folder))
    prefix = f"{small.seeds[0]}deeper"
    gone = {url for url in before.webdb if url.startswith(prefix)}
    assert len(gone) == 6 and holds(folder, prefix.encode())
    assert any(is_compared(folder, url) for url in gone)
    told = collected(shell, folder, prefix)
    assert "deleted what was left of 6 forgotten pages" in told
    after = crawled(store)
    assert after.webdb.keys() == before.webdb.keys() - gone
    assert after.documents.keys() == before.documents.keys() - gone
    assert not any(is_compared(folder, url) for url in gone)
    assert any(is_compared(folder, url) for url in after.documents)
    assert snapshot_numbers(store) == (load_current(store).number,)
    targets = [f"WARC-Target-URI: {url}\r\n".encode() for url in gone]
    assert not [name for text in targets for name in holds(folder, text)]
    kept = {entry.name for entry in load_current(store).files}
    captured = all_captures(store)
    assert captured.keys() == all_captures(LocalStore(small.folder)).keys() - set(map(webdb_key, gone))
    assert {one.file for some in captured.values() for one in some} <= kept
    assert shell("check", "--runner", "inline", "--store", str(folder)).endswith("all sound\n")
    for kind in ("pages", "webdb", "segments"):
        assert {
            str(path.relative_to(folder)) for path in (folder / kind).rglob("*") if path.is_file()
        } <= kept
    assert shell("check", "--runner", "inline", "--store", str(folder)).endswith("all sound\n")


def test_only_archives_with_such_pages_are_written_again_and_only_once(
    shell: Shell, small: SmallCrawl, tmp_path: Path
) -> None:
    folder = linked_copy(small.folder, tmp_path / "crawl")
    store = LocalStore(folder)
    page = f"url:{small.seeds[0]}3"
    collected(shell, folder, page)
    first = load_current(store)
    before = {entry.name for entry in small.snapshot.files_of("pages")}
    assert 0 < len(before - {entry.name for entry in first.files_of("pages")}) < len(before) // 2
    assert f"{small.seeds[0]}3" not in crawled(store).webdb
    collected(shell, folder, page)
    assert load_current(store) == first
    # A rule that was taken back and comes again is carried out again.
    collected(shell, folder)
    assert "purged" not in {entry.kind for entry in load_current(store).files}
    collected(shell, folder, page)
    assert "purged" in {entry.kind for entry in load_current(store).files}


def test_a_dry_run_and_hidden_pages_delete_nothing(shell: Shell, small: SmallCrawl, tmp_path: Path) -> None:
    folder = linked_copy(small.folder, tmp_path / "crawl")
    rule = f"scope.forgotten=[{small.seeds[0]}]"
    shell("--set", rule, "gc", "--dry-run", "--store", str(folder))
    shell("--set", rule.replace("forgotten", "hidden"), "gc", "--store", str(folder))
    assert load_current(LocalStore(folder)) == small.snapshot


def test_the_other_pages_of_a_forgotten_seed_stay_in_the_scope(live: LiveCrawl) -> None:
    Path("seed.txt").write_text(f"{live.site.url()}\n")
    live("--store", "one", "run", "--seed", "seed.txt", "--iterations", "2")
    found = set(live("--store", "one", "query", "--urls", "--limit", "100", "page").split())
    live("--store", "one", "forget", f"url:{live.site.url()}")
    live("--store", "one", "gc")
    live("--store", "one", "config", "set", "scope.max_depth=19")
    left = set(live("--store", "one", "query", "--urls", "--limit", "100", "page").split())
    assert left == found - {live.site.url()} != set()


def test_a_gc_that_was_killed_before_it_deleted_old_snapshots_is_finished_by_the_next(
    live: LiveCrawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    live("forget", live.site.url("/docs/"))
    with monkeypatch.context() as patch:
        patch.setattr(purging, "_delete_older", lambda *_: ())
        live("gc")
    store = LocalStore(Path("crawl"))
    assert len(snapshot_numbers(store)) > 1
    goal = goal_name(load_current(store).round + 1, 9, 3)
    store.put(goal, b"")
    live("gc")
    assert store.size(goal) == 0, "the run of the user goes on after the gc"
    assert snapshot_numbers(store) == (load_current(store).number,)
    assert not holds(Path("crawl"), f"WARC-Target-URI: {live.site.url('/docs/one')}\r\n".encode())


def test_settings_that_are_written_anew_keep_the_rules_for_forgotten_pages(live: LiveCrawl) -> None:
    live("forget", live.site.url("/docs/"))
    live("config", "set", "scope.max_depth=19")
    rule = live.json("config")["scope.forgotten"]["value"]
    (file,) = (entry for entry in load_current(LocalStore(Path("crawl"))).files if entry.kind == "settings")
    (Path("crawl") / file.name).write_bytes(b"")
    live("config", "set", "--anew")
    assert "forget such pages again" in live.shell.said
    assert live.json("config")["scope.forgotten"]["value"] == rule == [live.site.url("/docs/")]
