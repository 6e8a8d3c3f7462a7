"""`crawlctl export` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.captures.made_captures import make_captured
from crawlctl.tests.pipeline.imports.archives import answer, page, record, write

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.commands.conftest import Shell


@pytest.fixture
def captured(shell: Shell) -> Shell:
    make_captured(LocalStore(Path("crawl")))
    return shell


def test_a_crawl_is_exported_in_both_formats(captured: Shell) -> None:
    told = captured("export", "--to", "cdxj", "-o", "all.cdxj")
    assert told == "all.cdxj: 6 answers of 4 pages, in 4 archives\n"
    assert Path("all.cdxj").read_text().count("\n") == 6
    told = captured.json("export", "--to", "wacz", "-o", "b.wacz", "--host", "b.example:8080")
    assert (told["captures"], told["pages"], told["bytes"]) == (2, 1, Path("b.wacz").stat().st_size)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["-o", "here.cdxj"], "here.cdxj is there already; delete it, or give another name with -o"),
        (["-o", "none/x.cdxj"], "none/x.cdxj cannot be written: No such file or directory"),
        (["-o", "x.cdxj", "--host", "c.example"], "there is no capture to export"),
    ],
)
def test_what_cannot_be_written_leaves_no_file(captured: Shell, options: list[str], why: str) -> None:
    Path("here.cdxj").write_text("mine")
    assert why in captured("export", "--to", "cdxj", *options, code=1)
    assert Path("here.cdxj").read_text() == "mine"
    assert [path.name for path in Path().iterdir() if "cdxj" in path.name] == ["here.cdxj"]


def test_imported_pages_are_in_the_index_and_not_in_a_package(shell: Shell) -> None:
    write(Path("old.warc.gz"), record("https://a.org/", answer(page("loops"))))
    shell("import-warc", "old.warc.gz", "--runner", "inline")
    shell("export", "--to", "cdxj", "-o", "x.cdxj")
    assert '"filename": "old.warc.gz"' in Path("x.cdxj").read_text()
    message = shell("export", "--to", "wacz", "-o", "x.wacz", code=1)
    assert "all captures lie in imported archives, which are files of your own" in message


def test_an_index_tells_nobody_in_which_folders_imported_archives_lie(shell: Shell) -> None:
    for name in ("a/one", "b/one", "b/two"):
        path = Path(f"private/{name}.warc.gz")
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, record(f"https://a.org/{name}", answer(page(f"page {name}"))))
    shell("import-warc", *map(str, sorted(Path("private").rglob("*.gz"))), "--runner", "inline")
    told = shell("export", "--to", "cdxj", "-o", "x.cdxj")
    private = Path("private").absolute()
    assert told.endswith(f"named by their file names; they lie in {private}/, {private}/b/\n")
    lines = Path("x.cdxj").read_text()
    assert "private" not in lines
    names = [json.loads(line.split(" ", 2)[2])["filename"] for line in lines.splitlines()]
    assert sorted(names) == ["a/one.warc.gz", "b/one.warc.gz", "two.warc.gz"]
    assert f"{private}/b/two.warc.gz" in shell("show", "--captures", "https://a.org/b/two")
