"""`crawlctl errors` on a small crawl with a page of every kind."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.crawl.listings import page_errors, webdb_scan
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.records import Status
from crawlctl.tests.pipeline.commands.small_crawl import LATE, A, B, entry, write_crawl

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.commands.conftest import Shell


@pytest.fixture
def crawl(shell: Shell, written_crawl: Path) -> Shell:
    copytree(written_crawl, "crawl")
    return shell


def test_errors_are_grouped_by_reason_the_most_frequent_first(crawl: Shell) -> None:
    assert crawl.json("errors")["groups"] == [
        {"status": "forbidden", "reason": "robots.txt", "pages": 2, "example": A + "private"},
        {"status": "gone", "reason": "status 404", "pages": 2, "example": A + "gone-1"},
        {
            "status": "excluded",
            "reason": "scope.skip_extensions: a file of type jpg",
            "pages": 1,
            "example": B + "photo.jpg",
        },
        {"status": "failed", "reason": "status 503", "pages": 1, "example": B + "broken"},
        {"status": "failing", "reason": "timeout: no answer in 60 s", "pages": 1, "example": A + "slow"},
    ]
    printed = crawl("errors")
    assert ["2", "gone", "status", "404", A + "gone-1"] in [line.split() for line in printed.splitlines()]
    assert "7 pages with an error among 14 pages" in printed


def test_hosts_that_could_not_be_asked_and_the_next_commands_follow(crawl: Shell) -> None:
    printed = crawl("errors")
    (line,) = [line for line in printed.splitlines() if line.startswith("aa.example")]
    assert line.split()[1:5] == ["4", "1", *LATE.split()]
    assert line.endswith("robots.txt did not answer; nothing is fetched from the host until it can be read")
    assert f"`crawlctl explain {A}private` says everything about a page" in printed
    assert "`crawlctl refresh aa.example` makes the pages of a host due now" in printed
    told = crawl.json("errors")
    assert (told["hosts_total"], told["hosts"][0]["host"]) == (1, "aa.example")


def test_a_host_is_looked_at_alone(crawl: Shell) -> None:
    told = crawl.json("errors", "--host", "b.example:8080")
    assert [group["status"] for group in told["groups"]] == ["excluded", "failed"]
    assert (told["pages_read"], told["hosts"]) == (3, [])
    assert "aa.example" in crawl("errors", "--host", "aa.example")
    assert "`crawlctl hosts` lists the hosts" in crawl("errors", "--host", "nobody.example", code=1)


def test_a_large_crawl_is_read_in_part_and_says_so(crawl: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webdb_scan, "AT_ONCE", 1)
    told = crawl.json("errors")
    assert (told["pages_read"] + told["pages_left"], told["pages_left"] > 0) == (14, True)
    assert f"{told['pages_left']} pages were not read: --all reads them too" in crawl("errors")
    assert crawl.json("errors", "--all")["pages_read"] == 14


def test_reasons_of_strangers_do_not_fill_the_memory(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_errors, "MAX_GROUPS", 3)
    pages = {A + str(n): entry(Status.FAILED, tries=1, reason=f"odd {n}") for n in range(10)}
    write_crawl(LocalStore(Path("crawl")), pages)
    groups = shell.json("errors")["groups"]
    assert groups[0] == {"status": "failed", "reason": "other reasons", "pages": 7, "example": A + "3"}
    assert len(groups) == 4
    assert "2 rarer reasons are not shown (--limit)" in shell("errors", "--limit", "2")


def test_a_crawl_without_errors_says_so(shell: Shell) -> None:
    shell("init")
    assert shell("errors") == "0 pages with an error among 0 pages\n\nnothing failed\n"


@pytest.mark.parametrize("width", [40, 80])
def test_the_tables_fit_a_terminal(crawl: Shell, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(map(len, crawl("errors").splitlines())) <= width


def test_kinds_of_failures_are_words(shell: Shell) -> None:
    reasons = {
        "too_slow: 3 bytes per second": "too few bytes per second: 3 bytes per second",
        "forbidden_address: 10.0.0.1 is not public": "a private address: 10.0.0.1 is not public",
        "unwanted_type: image/png": "unwanted type: image/png",
        "dns: no such name": "DNS: no such name",
        "bad_response: no HTTP": "bad response: no HTTP",
    }
    pages = {A + str(n): entry(Status.FAILED, tries=1, reason=reason) for n, reason in enumerate(reasons)}
    write_crawl(LocalStore(Path("crawl")), pages)
    printed = shell("errors")
    for number, (code, words) in enumerate(reasons.items()):
        assert words in printed and code not in printed
        explained = shell("explain", f"{A}{number}")
        assert words in explained and code not in explained
    assert {group["reason"] for group in shell.json("errors")["groups"]} == set(reasons), "for programs"
