from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

PAGES = 10 + 1
PACES = ("initial", "minimum", "maximum")
ONCE = [part for pace in PACES for part in ("--set", f"recrawl.pace.{pace}=5000d")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the crawl is that the first test makes; all tests begin with a copy of it."""
    return tmp_path_factory.mktemp("made") / "crawl"


@pytest.fixture
def crawled(shell: Any, made_up_web: Any, monkeypatch: pytest.MonkeyPatch, made: Path) -> Any:
    """A terminal beside a crawl whose rounds did not merge the index."""
    monkeypatch.setenv("WEB_TEXTS", "yes")
    monkeypatch.setenv("CRAWLCTL_INDEX_MERGE_EVERY", "100")
    monkeypatch.setenv("CRAWLCTL_RUNNER_NAME", "inline")
    if not made.exists():
        Path("seed.txt").write_text("https://host0.example/0\n")
        shell(*ONCE, "run", "--seed", "seed.txt", "--until-empty", "--store", str(made))
    copytree(made, "crawl")
    return shell


@pytest.mark.slow
def test_a_merge_makes_runs_searchable(crawled: Any) -> None:
    before = crawled.json("status")["index"]
    assert before["documents"] == 0
    assert before["unmerged runs"] > 0
    merged = crawled.json("merge")
    assert merged == crawled.json("status")["index"]
    assert (merged["documents"], merged["unmerged runs"]) == (PAGES, 0)
    assert crawled.json("merge") == merged
    full = crawled.json("merge", "--full")
    assert full["documents"] == PAGES
    assert full["segments"] <= merged["segments"]


def test_status_prints_the_size_of_the_index(crawled: Any) -> None:
    crawled("merge")
    assert "searchable" in crawled("status")


@pytest.mark.parametrize("table", ["docs", "links"])
def test_dump_reads_documents_before_and_after_a_merge(crawled: Any, table: str) -> None:
    assert len(crawled("dump", table).splitlines()) == PAGES
    crawled("merge")
    assert len(crawled("dump", table).splitlines()) == PAGES


@pytest.mark.slow
@pytest.mark.parametrize("table", ["terms", "dictionary"])
def test_dump_shows_where_lists_lie(crawled: Any, table: str) -> None:
    crawled("merge")
    records = [json.loads(line) for line in crawled("dump", "--json", table).splitlines()]
    places = [
        record["value"]
        for record in records
        if record["key"].endswith(" stem]") and record["key"].startswith("text [")
    ]
    flat = [place for value in places for place in (value if isinstance(value, list) else [value])]
    assert sum(place["count"] for place in flat) == PAGES


def test_without_a_crawl_the_error_names_run(shell: Any) -> None:
    assert "crawlctl run https://… --store" in shell("merge", code=1)
    assert not Path("crawl").exists()
