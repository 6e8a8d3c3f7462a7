"""`crawlctl pages` on a small crawl with a page of every kind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb import part
from crawlctl.pipeline.webdb.records import Status
from crawlctl.tests.pipeline.commands.small_crawl import LATE, PAGES, SILENT, A, B, entry, write_crawl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.layers.layer import Layer
    from crawlctl.tests.pipeline.commands.conftest import Shell

MAIN = "import crawlctl.cli; crawlctl.cli.main()"
OF_A = sorted(url for url in PAGES if url.startswith(A))


@pytest.fixture
def crawl(shell: Shell, written_crawl: Path) -> Shell:
    copytree(written_crawl, "crawl")
    return shell


def urls(shell: Shell, *arguments: str) -> list[str]:
    return [page["url"] for page in shell.json("pages", *arguments)["pages"]]


def test_all_pages_are_listed_with_status_visits_and_counts(crawl: Shell) -> None:
    assert sorted(urls(crawl)) == sorted(PAGES)
    lines = [line.split() for line in crawl("pages").splitlines()]
    assert ["fetched", "200", "2023-11-14", "22:13", *LATE.split(), A] in lines
    assert ["unfetched", "-", "now", A + "new"] in lines
    printed = crawl("pages", "--limit", "3")
    assert "3 of 14 pages shown: --all lists them; 14 pages known: 3 fetched, 2 forbidden, 2 gone" in printed
    assert printed.count("http") == 3
    assert crawl("pages", "--all", "--limit", "1").count("http") == 14


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("gone", [A + "gone-1", A + "gone-2"]),
        ("GONE", [A + "gone-1", A + "gone-2"]),
        ("live", [A, A + "same", A + "slow", B]),
        ("due", [A + "new", A + "same", SILENT]),
        ("failing", [A + "slow"]),
        ("unfetched", [A + "new", SILENT]),
        ("duplicate", [A + "print"]),
        ("503", [B + "broken"]),
        ("418", []),
    ],
)
def test_a_status_chooses_pages(crawl: Shell, status: str, expected: list[str]) -> None:
    assert sorted(urls(crawl, "--status", status)) == sorted(expected)
    assert crawl.json("pages", "--status", status)["total"] == len(expected)


def test_a_list_that_ends_early_knows_its_total_by_the_counters(crawl: Shell) -> None:
    assert crawl.json("pages", "--status", "gone", "--limit", "1")["total"] == 2
    assert "1 of 4 pages shown (status live)" in crawl("pages", "--status", "live", "--limit", "1")
    assert "1 of about 3 pages shown (status due)" in crawl("pages", "--status", "due", "--limit", "1")
    missing = crawl("pages", "--status", "404", "--limit", "1")
    assert "1 page shown (status 404), and there are more: --all lists them" in missing


def test_a_host_is_a_name_or_a_url_and_is_counted(crawl: Shell) -> None:
    for host in ("a.example", "A.Example", "https://a.example/whatever"):
        assert urls(crawl, "--host", host) == OF_A
    printed = crawl("pages", "--host", "b.example:8080", "--limit", "1")
    assert "1 of 3 pages shown: --all lists them; 3 pages of b.example:8080 known: 1 excluded" in printed
    assert urls(crawl, "--host", "a.example", "--status", "redirected") == [A + "old"]
    assert "'a b' is no host" in crawl("pages", "--host", "a b", code=2)
    assert "`crawlctl hosts` lists the hosts" in crawl("pages", "--host", "nobody.example", code=1)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the parts that are opened."""
    names: list[str] = []
    real = part.WebDbPart.__init__

    def noted(self: part.WebDbPart, store: Store, layers: Sequence[Layer]) -> None:
        names.append(layers[0].data.name)
        real(self, store, layers)

    monkeypatch.setattr(part.WebDbPart, "__init__", noted)
    return names


def test_of_a_host_only_its_range_is_read(
    crawl: Shell, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part.WebDbPart, "blocks", None)  # which read the whole part
    assert len(urls(crawl, "--host", "a.example")) == len(OF_A)
    assert len(opened) == 1


def test_parts_without_the_status_are_not_opened(crawl: Shell, opened: list[str]) -> None:
    assert urls(crawl, "--status", "failed") == [B + "broken"]
    assert len(opened) == 1
    assert "0 of" not in crawl("pages", "--limit", "1")
    assert len(opened) == 2, "one page comes from one part"
    assert len(urls(crawl, "--status", "due")) == 3
    assert len(opened) == 4, "the part of b.example:8080 has no page that is due"


def test_a_wrong_status_lists_the_allowed_ones(crawl: Shell) -> None:
    message = crawl("pages", "--status", "broken", code=2)
    assert (
        "'broken' is none of due, live, failing, unfetched, fetched, unchanged, redirected, gone" in message
    )
    assert "or a code such as 404" in message


def test_what_is_not_there_is_said(crawl: Shell) -> None:
    assert crawl("pages", "--status", "418").startswith("no page to show (status 418); 14 pages known: ")
    crawl("init", "--store", "empty")
    assert "no page is known yet; `crawlctl run --seed FILE`" in crawl("pages", "--store", "empty")
    assert crawl.json("pages", "--store", "empty")["pages"] == []
    assert "crawlctl run https://" in crawl("pages", "--store", "nowhere", code=1)


@pytest.mark.parametrize("width", [40, 80])
def test_the_list_fits_a_terminal(crawl: Shell, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = crawl("pages").splitlines()
    assert max(map(len, lines)) <= width
    assert sum(A + "gone-1" in line for line in lines) == 1


def test_json_is_one_document_however_long(shell: Shell) -> None:
    pages = {f"https://h{number % 7}.example/{number}": entry(Status.FETCHED, 200) for number in range(2500)}
    write_crawl(LocalStore(Path("crawl")), pages)
    told = json.loads(shell("pages", "--all", "--json"))
    assert {page["url"] for page in told["pages"]} == set(pages)
    assert (told["shown"], told["total"], told["statuses"]) == (2500, 2500, {"fetched": 2500})


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_a_reader_that_goes_away_is_no_error_message(shell: Shell, options: tuple[str, ...]) -> None:
    pages = {f"https://a.example/{number}": entry(Status.FETCHED, 200) for number in range(3000)}
    write_crawl(LocalStore(Path("crawl")), pages)
    command = [sys.executable, "-c", MAIN, "pages", "--all", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
