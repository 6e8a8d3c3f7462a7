"""`crawlctl import-warc`, and then a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.tests.pipeline.imports.archives import answer, page, record, write

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


def test_what_is_missing_is_said_with_what_to_do(shell: Shell) -> None:
    assert "give the path" in shell("import-warc", "misspelt.warc.gz", code=1)
    assert "Missing argument" in shell("import-warc", code=2)
