"""`crawlctl status --history`: a row per round, kept by everything that changes or moves a crawl."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.terminal.width import columns
from crawlctl.tests.pipeline.commands.live_site import (
    PATHS,
    LiveCrawl,
    crawled_site,
    live,
    stopped_before_the_merge,
)
from crawlctl.tests.pipeline.imports.archives import answer, page, record, write

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.commands.conftest import Shell

__all__ = ["crawled_site", "live"]

ROUND_STEPS = {"fetch", "webdb", "index", "other"}


def history(live: LiveCrawl, *options: str) -> list[Any]:
    rows: list[Any] = live.json("status", "--history", *options)
    return rows


def makers(rows: list[Any]) -> list[str]:
    return [row["made_by"] for row in rows]


def test_a_round_has_one_row_with_its_pages_costs_and_sizes(live: LiveCrawl) -> None:
    rows = history(live)
    assert makers(rows)[:2] == ["run, 6 new seeds", "run, round 1"]
    row = rows[1]
    assert (row["round"], row["is_round"], row["command"], row["runner"]) == (1, True, "run", "inline")
    assert row["pages"]["new"] == len(PATHS)
    assert set(row["steps"]) == ROUND_STEPS
    assert row["cpu"] > 0
    assert row["seconds"] == pytest.approx(sum(step["seconds"] for step in row["steps"].values()), abs=0.01)
    assert 0 < row["latency"]["p50"] <= row["latency"]["p99"]
    assert row["received"] > 0
    assert (row["urls"], row["hosts"], row["documents"]) == (len(PATHS), 1, len(PATHS))
    assert row["terms"] > 0
    files = load_current(LocalStore(Path("crawl"))).files
    sizes = {kind: sum(one.bytes for one in files if one.kind == kind) for kind in ("pages", "webdb")}
    assert {kind: row["stored"][kind] for kind in sizes} == sizes
    assert {"postings", "docs", "dictionary"} <= row["index"].keys()
    assert row["dollars"] is None
    assert "duplicate groups" in rows[-1]["made_by"]
    assert "groups" in rows[-1]["steps"]


@pytest.mark.slow
@pytest.mark.parametrize("room", [40, 80])
def test_the_tables_fit_the_terminal(live: LiveCrawl, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    live("refresh", live.site.url("/docs/"))
    live("run")
    monkeypatch.setenv("COLUMNS", str(room))
    lines = live("status", "--history").splitlines()
    assert max(map(columns, lines)) <= room
    firsts = [line.split()[0] for line in lines if line]
    assert [firsts.count(name) for name in ("1", "refresh", "2", "all")] == [2, 2, 2, 2]


def test_pages_of_a_forgotten_url_leave_no_name_in_the_history(live: LiveCrawl) -> None:
    live("forget", live.site.url("/docs/one"))
    live("refresh", live.site.url("/docs/two"))
    live("gc", "--keep", "1", "--min-age", "0s")
    stored = b"".join(path.read_bytes() for path in Path("crawl/history").rglob("*.jsonl"))
    assert b"docs" not in stored.replace(b'"docs"', b"")
    assert live.site.host.encode() not in stored
    assert "forget" in makers(history(live))


def test_a_round_that_was_stopped_and_resumed_is_one_row_with_the_costs_of_both(live: LiveCrawl) -> None:
    live("refresh", live.site.host)
    before = len(history(live))
    with stopped_before_the_merge():
        live("run", code=1)
    assert len(history(live)) == before
    spent = list(Path("crawl/rounds/00000002").glob("spent-*-fetch-*"))
    assert len(spent) == 1
    # What the stopped process has spent, as if it had worked for two hours.
    owner = spent[0].name.split("-")[1]
    spent[0].rename(spent[0].with_name(f"spent-{owner}-fetch-7200000-3600000"))
    live("run")
    [row] = [row for row in history(live)[before:] if row["is_round"]]
    assert (row["round"], row["pages"]["unchanged"]) == (2, len(PATHS))
    assert row["steps"]["fetch"] == {"seconds": 7200.0, "cpu": 3600.0}  # this run has fetched nothing
    assert row["steps"]["webdb"]["seconds"] < 7200


@pytest.mark.slow
def test_garbage_collection_keeps_all_rows(live: LiveCrawl) -> None:
    for _ in range(2):
        live("refresh", live.site.host)
        live("run")
    rows = history(live)
    live("gc", "--keep", "1", "--min-age", "0s")
    assert history(live) == rows
    assert [row["round"] for row in rows if row["is_round"]] == [1, 2, 3]
    live("check")


def test_a_rollback_keeps_the_rows_of_the_rounds_that_it_undoes(live: LiveCrawl) -> None:
    first = load_current(LocalStore(Path("crawl"))).number
    live("refresh", live.site.host)
    live("run")
    rows = history(live)
    live("rollback", str(first))
    after = history(live)
    assert after[:-1] == rows
    assert after[-1]["made_by"] == f"rollback to {first}"
    assert not after[-1]["is_round"]
    live("rollback", str(first + 2))  # to a snapshot whose history is shorter
    assert history(live)[:-1] == after


@pytest.mark.parametrize("partitions", [(), ("--partitions", "3")])
def test_a_copy_has_the_same_history(live: LiveCrawl, partitions: tuple[str, ...]) -> None:
    rows = history(live)
    live("copy", "crawl", "copied", *partitions)
    assert history(live, "--store", "copied") == rows
    live("check", "--store", "copied")


def test_a_damaged_history_is_found_and_repaired_without_its_lost_rows(live: LiveCrawl) -> None:
    rows = history(live)
    lost = sorted(Path("crawl/history").rglob("*.jsonl"))[0]
    lost.write_bytes(b"x" * lost.stat().st_size)
    assert "crawlctl check --repair" in live("status", "--history", code=1)
    live("check", code=1)
    live("run", code=0)  # nothing is due, and a crawl works without its history
    live("check", "--repair")
    assert len(makers(history(live))) == len(rows)  # one is lost, and the repair has one
    assert makers(history(live))[-1] == "check --repair"
    live("check")


def test_an_import_is_a_round_of_its_own(shell: Shell, tmp_path: Path) -> None:
    write(
        tmp_path / "old.warc.gz", *(record(f"https://a.org/{n}", answer(page(str(n), "/"))) for n in range(3))
    )
    shell("import-warc", "old.warc.gz", "--runner", "inline", "--set", "partitions=1")
    [row] = shell.json("status", "--history")
    assert (row["command"], row["is_round"], row["round"]) == ("import-warc", True, 1)
    assert row["documents"] == 3
    assert set(row["steps"]) == {"import", "webdb", "index", "other"}
    assert shell("status", "--history").splitlines()[2].startswith("1 import")


def test_a_crawl_without_rounds_says_how_to_get_a_history(shell: Shell) -> None:
    shell("init", "--partitions", "1")
    assert "the crawl has no history yet; each round adds a line: crawlctl run" in shell(
        "status", "--history"
    )
    assert shell.json("status", "--history") == []
