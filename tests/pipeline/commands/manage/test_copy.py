"""`crawlctl copy` as it is typed."""

from __future__ import annotations

import shutil
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.state.leases.lease import hold_lease
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.open import open_store

if TYPE_CHECKING:
    from typing import Any

    from crawlctl.tests.pipeline.commands.conftest import Shell

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the crawl is that the first test makes; all tests begin with a copy of it."""
    return tmp_path_factory.mktemp("made") / "crawl"


@pytest.fixture
def crawled(shell: Shell, made_up_web: Any, monkeypatch: pytest.MonkeyPatch, made: Path) -> Shell:
    monkeypatch.setenv("WEB_TEXTS", "yes")
    Path("seeds.txt").write_text("".join(f"{made_up_web.page(n)}\n" for n in range(9)))
    if not made.exists():
        shell("init", "--store", str(made), "--partitions", "3")
        shell("inject", "--store", str(made), "seeds.txt")
        shell("run", "--store", str(made), "--iterations", "1", "--runner", "inline")
    copytree(made, "crawl")
    return shell


def test_a_copy_says_what_was_copied(crawled: Shell) -> None:
    source = load_current(open_store("crawl"))
    first = crawled.json("copy", "crawl", "copy")
    assert first["copied"] == len(source.files)
    assert first["bytes"] == sum(entry.bytes for entry in source.files)
    assert (first["partitions"], first["there before"]) == (3, 0)
    printed = crawled("copy", "crawl", "copy", "--verify")
    assert "copied        0" in printed
    assert f"there before  {len(source.files)}" in printed


def test_the_copy_is_a_crawl_with_the_same_answers(crawled: Shell) -> None:
    crawled("copy", "crawl", "copy", "--partitions", "5", "--runner", "inline")
    status, copied = (crawled.json("status", "--store", store) for store in ("crawl", "copy"))
    assert copied["partitions"] == 5
    assert (copied["urls"], copied["statuses"], copied["round"]) == (
        status["urls"],
        status["statuses"],
        status["round"],
    )
    answers = [crawled.json("query", "--store", store, "text", "host3") for store in ("crawl", "copy")]
    assert answers[0]["total"] == answers[1]["total"] > 0
    found = [sorted((page["score"], page["url"]) for page in answer["pages"]) for answer in answers]
    assert found[0] == found[1]
    crawled("run", "--store", "copy", "--iterations", "1", "--runner", "inline")
    assert crawled.json("status", "--store", "copy")["round"] == status["round"] + 1


def test_what_is_wrong_is_said_in_one_line(crawled: Shell) -> None:
    shutil.copytree("crawl", "other")
    cases = {
        ("crawl", "crawl"): ("SRC and DST are the same store", 2),
        ("crawl", "crawl/copy"): ("lies inside", 2),
        ("nowhere", "copy"): ("holds no crawl, so there is nothing to copy", 1),
        ("crawl", "other"): ("holds a crawl that is no copy", 1),
        ("crawl", "ftp://copy"): ("there is no store of kind ftp://", 2),
    }
    for arguments, (complaint, code) in cases.items():
        said = crawled("copy", *arguments, code=code)
        assert complaint in said
        assert said.startswith("crawlctl: ") and said.count("\n") == 1
    assert "--partitions" in crawled("copy", "crawl", "copy", "--partitions", "0", code=2)
    assert not Path("copy").exists()


def test_a_copy_in_use_is_busy(crawled: Shell) -> None:
    with hold_lease(open_store("copy"), 60, "run"):
        assert "is in use by `crawlctl run`" in crawled("copy", "crawl", "copy", code=75)
