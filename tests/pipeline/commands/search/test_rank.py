from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.rank.stored import FETCHED, store_crawl

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.tests.pipeline.commands.conftest import Shell

HUB = "https://hub.example/"
PAGES = [f"https://{name}.example/" for name in "abc"]


@pytest.fixture
def crawl(tmp_path: Path) -> None:
    links = {page: [HUB] for page in PAGES} | {HUB: PAGES[:1]}
    store_crawl(LocalStore(tmp_path / "crawl"), dict.fromkeys([HUB, *PAGES], FETCHED), links, 2)


@pytest.mark.usefixtures("crawl")
def test_rank_prints_the_first_and_they_can_be_shown_again(shell: Shell) -> None:
    ranked = shell.json("rank", "--runner", "inline", "--top", "2")
    assert [row["url"] for row in ranked] == [HUB, PAGES[0]]
    assert shell.json("rank", "--show", "--top", "2") == ranked
    assert len(shell("rank", "--show").splitlines()) == len(PAGES) + 1
    hosts = shell.json("rank", "--show", "--by", "host")
    assert hosts[0]["host"] == "hub.example"
    assert sum(row["rank"] for row in shell.json("rank", "--show", "--by", "domain")) == pytest.approx(1)


@pytest.mark.usefixtures("crawl")
def test_explain_names_the_pages_that_give_a_rank(shell: Shell) -> None:
    assert shell.json("explain", HUB, "--no-links")["rank"] is None
    shell("rank", "--runner", "inline")
    rank = shell.json("explain", HUB, "--no-links")["rank"]
    assert {giver["url"] for giver in rank["givers"]} == set(PAGES)
    assert "times the average, by 3 pages" in shell("explain", HUB, "--no-links")


@pytest.mark.usefixtures("crawl")
def test_what_cannot_be_done_is_said_with_a_remedy(shell: Shell) -> None:
    assert "rank it with `crawlctl rank" in shell("rank", "--show", code=1)
    assert "rank.damping" in shell("rank", "--damping", "1.5", code=2)
