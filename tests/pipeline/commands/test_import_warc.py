"""`crawlctl import-warc`, and then a search."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import brotli
import pytest
from backports import zstd

from crawlctl.tests.pipeline.imports.archives import answer, arc_record, page, record, write

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.tests.pipeline.commands.conftest import Shell


def test_an_archive_can_be_searched_without_crawling(shell: Shell, tmp_path: Path) -> None:
    pages = [record(f"https://a.org/{name}", answer(page(name, "/"))) for name in ("loops", "events")]
    write(tmp_path / "old.warc.gz", *pages, b"no record")
    shell("init", "--partitions", "2")
    report = shell.json("import-warc", "old.warc.gz", "--runner", "inline")
    assert (report["round"], report["pages"], report["damaged"]) == (1, 2, 1)
    assert shell("query", "--urls", "words", "loops", "--strict") == "https://a.org/loops\n"
    assert "none: no page was new" in shell("import-warc", "old.warc.gz", "--runner", "inline")


def test_without_a_crawl_one_is_made(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path / "old.warc.gz", record("https://a.org/", answer(page("loops"))))
    options = ("--runner", "inline", "--json")
    assert json.loads(shell("--set", "partitions=3", "import-warc", "old.warc.gz", *options))["pages"] == 1
    assert shell.json("status")["partitions"] == 3
    assert shell("query", "--urls", "loops") == "https://a.org/\n"


def test_a_misspelt_name_leaves_no_crawl_behind(shell: Shell, tmp_path: Path) -> None:
    shell("import-warc", "misspelt.warc.gz", code=1)
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize("version", [1, 2])
def test_an_arc_file_and_packed_bodies_are_imported(shell: Shell, tmp_path: Path, version: int) -> None:
    packed = {"br": brotli.compress, "zstd": zstd.compress, "gzip": gzip.compress}
    pages = [
        arc_record(
            f"http://a.org/{name}",
            answer(pack(page(name).encode()), f"Content-Encoding: {name}"),
            version=version,
        )
        for name, pack in packed.items()
    ]
    write(tmp_path / "old.arc.gz", *pages)
    report = shell.json("import-warc", "old.arc.gz", "--runner", "inline")
    assert (report["pages"], "damaged" in report) == (3, False)
    for name in packed:
        assert shell("query", "--urls", "--strict", "words", name) == f"http://a.org/{name}\n"


def test_what_is_damaged_or_not_supported_is_shown_with_its_reason(shell: Shell, tmp_path: Path) -> None:
    strange = record("https://a.org/x", answer("?", "Content-Encoding: pack200-gzip"))
    whole = record("https://a.org/", answer(page("loops")))
    write(tmp_path / "old.warc", whole, strange, whole[:-30], compressed=False)
    printed = shell("import-warc", "old.warc", "--runner", "inline")
    lines = [line.rsplit(None, 1) for line in printed.splitlines()]
    assert ["damaged", "1"] in lines
    assert ["damaged: the file ends within a record", "1"] in lines
    assert ["pages in an unknown Content-Encoding", "1"] in lines


def test_what_is_missing_is_said_with_what_to_do(shell: Shell) -> None:
    assert "give the path" in shell("import-warc", "misspelt.warc.gz", code=1)
    assert "Missing argument" in shell("import-warc", code=2)
