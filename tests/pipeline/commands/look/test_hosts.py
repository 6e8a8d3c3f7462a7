"""`crawlctl hosts` on a small crawl: a host that answers, one that was never asked, one that is silent."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.crawl.listings import webdb_scan
from crawlctl.tests.pipeline.commands.small_crawl import LATE

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.tests.pipeline.commands.conftest import Shell

SILENCE = "robots.txt did not answer; nothing is fetched from the host until it can be read"


@pytest.fixture
def crawl(shell: Shell, written_crawl: Path) -> Shell:
    copytree(written_crawl, "crawl")
    return shell


def by_name(told: dict[str, Any]) -> dict[str, Any]:
    return {host["host"]: host for host in told["hosts"]}


def test_hosts_are_listed_with_their_pages_and_what_is_known_of_them(crawl: Shell) -> None:
    lines = [line.split("  ") for line in crawl("hosts").splitlines()]
    cells = {line[0]: [cell.strip() for cell in line if cell.strip()] for line in lines}
    assert cells["a.example"][1:] == ["10", "3", "2", "5", "rules", "7"]
    assert cells["b.example:8080"][1:] == ["3", "1", "0", "2", "not read", "1"]
    assert cells["aa.example"][1:] == [
        *("1", "0", "1", "0", "unreadable", "1"),
        f"4 failures in a row; {SILENCE}; 1 URL left; not asked before {LATE}",
    ]
    assert ["3 hosts; `crawlctl pages --host HOST` lists the pages of a host"] in lines


def test_json_has_the_same_figures(crawl: Shell) -> None:
    told = by_name(crawl.json("hosts"))
    assert told["b.example:8080"]["pages"]["statuses"] == {"fetched": 1, "failed": 1, "excluded": 1}
    assert (told["a.example"]["answered"], told["a.example"]["ip"]) == (9, "192.0.2.1")
    assert told["aa.example"]["trouble"] == SILENCE


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("pages", ["a.example", "b.example:8080", "aa.example"]),
        ("failures", ["a.example", "b.example:8080", "aa.example"]),
        ("name", ["a.example", "aa.example", "b.example:8080"]),
    ],
)
def test_hosts_are_sorted(crawl: Shell, order: str, expected: list[str]) -> None:
    assert list(by_name(crawl.json("hosts", "--sort", order))) == expected
    assert "2 of 3 hosts shown" in crawl("hosts", "--sort", order, "--limit", "2")


def test_a_large_crawl_is_counted_only_on_demand(crawl: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webdb_scan, "AT_ONCE", 13)
    told = by_name(crawl.json("hosts"))
    assert list(told) == ["a.example", "aa.example"], "those that were asked"
    assert told["a.example"]["pages"] is None
    assert "2 hosts that were asked; 3 are known, and --count counts" in crawl("hosts")
    assert list(by_name(crawl.json("hosts", "--sort", "failures"))) == ["aa.example", "a.example"]
    assert by_name(crawl.json("hosts", "--count"))["a.example"]["pages"]["known"] == 10


def test_one_host_is_told_in_full(crawl: Shell) -> None:
    fields = dict(line.split("  ", 1) for line in crawl("hosts", "--host", "https://A.example").splitlines())
    said = {name.strip(): value.strip() for name, value in fields.items()}
    assert said["pages"].startswith("10: 2 fetched, 2 forbidden, 2 gone")
    assert (said["due"], said["errors"], said["robots.txt"]) == ("2", "5", "rules")
    assert said["crawl delay"] == "7 s between two requests"
    assert said["next request"] == "at once"
    silent = crawl("hosts", "--host", "aa.example")
    assert f"not before {LATE} UTC" in silent
    assert SILENCE in silent
    assert crawl.json("hosts", "--host", "b.example:8080")["pages"]["known"] == 3
    assert "`crawlctl hosts` lists the hosts" in crawl("hosts", "--host", "nobody.example", code=1)


@pytest.mark.parametrize("width", [40, 80])
def test_the_list_fits_a_terminal(crawl: Shell, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert max(map(len, crawl("hosts").splitlines())) <= width


def test_a_crawl_without_hosts_says_how_to_begin(shell: Shell) -> None:
    shell("init")
    assert "no host is known yet; `crawlctl run --seed FILE`" in shell("hosts")
