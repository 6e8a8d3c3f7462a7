"""`crawlctl import-warc`, and then a search."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

import brotli
import pytest

from crawlctl.cli import run
from crawlctl.pipeline.formats.zstd_module import zstd
from crawlctl.tests.pipeline.fetch.site import serving
from crawlctl.tests.pipeline.imports.archives import answer, arc_record, page, record, write

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.commands.conftest import Shell


def test_an_archive_can_be_searched_without_crawling(shell: Shell, tmp_path: Path) -> None:
    pages = [record(f"https://a.org/{name}", answer(page(name, "/"))) for name in ("loops", "events")]
    write(tmp_path / "old.warc.gz", *pages, b"no record")
    shell("init", "--partitions", "2")
    report = shell.json("import-warc", "old.warc.gz", "--runner", "inline")
    assert (report["round"], report["pages"], report["damaged"]) == (1, 2, 1)
    assert shell("query", "--urls", "words", "loops", "--strict") == "https://a.org/loops\n"
    assert "none: no page was new" in shell("import-warc", "old.warc.gz", "--runner", "inline")


@pytest.mark.parametrize("compressed", [True, False])
def test_an_imported_answer_is_read_from_the_archive_of_the_user(
    shell: Shell, tmp_path: Path, compressed: bool
) -> None:
    body = gzip.compress(page("packed").encode())
    records = [
        record("https://a.org/plain", answer(page("plain"))),
        record("https://a.org/packed", answer(body, "Content-Encoding: gzip")),
    ]
    write(tmp_path / "old.warc", *records, compressed=compressed)
    shell("import-warc", "old.warc", "--runner", "inline")
    assert shell("show", "--raw", "https://a.org/plain") == page("plain")
    assert shell("show", "--raw", "https://a.org/packed") == page("packed"), "without its encoding"
    (told,) = shell.json("show", "--captures", "https://a.org/packed")
    data = (tmp_path / "old.warc").read_bytes()
    assert (told["file"], told["status"]) == (str(tmp_path / "old.warc"), 200)
    assert told["offset"] + told["length"] == len(data) and told["length"] < len(data)
    assert shell("check", "--runner", "inline").endswith("all sound\n")
    (tmp_path / "old.warc").rename(tmp_path / "moved.warc")
    message = shell("show", "--raw", "https://a.org/packed", code=1)
    assert (
        f"was imported from {tmp_path / 'old.warc'}, where its answer lies at byte {told['offset']:,}"
        in message
    )


def test_without_a_crawl_one_is_made(shell: Shell, tmp_path: Path) -> None:
    write(tmp_path / "old.warc.gz", record("https://a.org/", answer(page("loops"))))
    options = ("--runner", "inline", "--json")
    flags = ("--set", "partitions=3", "--set", "scope.max_depth=2")
    assert json.loads(shell(*flags, "import-warc", "old.warc.gz", *options))["pages"] == 1
    assert shell.json("status")["partitions"] == 3
    assert shell.json("config")["scope.max_depth"] == {"value": 2, "source": "the crawl"}
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


def imported(shell: Shell, tmp_path: Path) -> None:
    """Import two pages of a host that is outside the scope of the crawl."""
    Path("crawl.yaml").write_text("partitions: 2\nrunner: {name: inline}\nfetch: {contact: t@example.org}\n")
    pages = [record(f"https://a.org/{name}", answer(page(name, "/"))) for name in ("loops", "events")]
    write(tmp_path / "old.warc.gz", *pages)
    shell("import-warc", "old.warc.gz")


def test_imported_pages_outside_the_scope_stay_and_are_not_visited(shell: Shell, tmp_path: Path) -> None:
    imported(shell, tmp_path)
    assert shell.json("status", "--due")["due"]["now"] == 0
    assert shell.json("run", "--until-empty")["rounds"] == []
    assert set(shell("query", "--urls", "words").split()) == {"https://a.org/loops", "https://a.org/events"}
    why = shell.json("explain", "--no-links", "https://a.org/loops")["why"]
    assert why == "imported from old.warc.gz; outside the scope, so it is not visited again"
    lines = shell("explain", "--no-links", "https://a.org/loops").splitlines()
    assert "next_due      never, unless the scope changes" in lines
    assert "source        imported from old.warc.gz" in lines


@pytest.mark.parametrize("command", ["run", "inject"])
def test_a_seed_lets_the_imported_pages_of_its_host_in(shell: Shell, tmp_path: Path, command: str) -> None:
    """The archive has the first page alone, and its links were outside the scope when it was imported."""
    with serving(1) as (site,):
        site.page("/", "/found", ETag='"1"')
        site.page("/found")
        body = site.resources["/"].body.decode()
        write(tmp_path / "old.warc.gz", record(site.url(), answer(body, 'ETag: "1"')))
        Path("crawl.yaml").write_text(
            "partitions: 2\nrunner: {name: inline}\npoliteness: {delay: 0, response_factor: 0}\n"
            "fetch: {contact: t@example.org, allowed_networks: [127.0.0.1]}\n"
        )
        shell("import-warc", "old.warc.gz")
        said = shell(command, site.url()) + shell.said
        assert "1 known URL is due now, because a seed has brought a new host into the scope" in said
        shell("run", "--iterations", "2")
        assert set(site.pages_asked()) == {"/", "/found"}
        assert "known URL" not in shell("inject", site.url()), "the host is in the scope already"


def test_imported_pages_that_are_due_all_the_same_are_left_alone(shell: Shell, tmp_path: Path) -> None:
    """As after a run with other rules for this run alone: the net of the fetch task holds."""
    imported(shell, tmp_path)
    shell("--set", "scope.include=[a.org]", "refresh", "a.org")
    assert shell.json("status", "--due")["due"]["now"] == 2
    rounds = shell.json("run", "--until-empty")["rounds"]
    assert [one["fetched"] for one in rounds] == [0]
    assert shell.json("status", "--due")["due"]["now"] == 0
    assert shell.json("status")["statuses"] == {"fetched": 2}
    assert len(shell("query", "--urls", "words").split()) == 2


def test_forgotten_pages_leave_although_they_were_imported_and_do_not_come_back(
    shell: Shell, tmp_path: Path
) -> None:
    imported(shell, tmp_path)
    assert shell.json("forget", "https://a.org/loops")["left"] == 1
    assert shell("query", "--urls", "words") == "https://a.org/events\n"
    again = record("https://a.org/loops", answer(page("loops")), date="2099-01-01T00:00:00Z")
    write(tmp_path / "newer.warc.gz", again)
    rules = ("--set", "scope.forgotten=[https://a.org/loops]")
    report = shell.json(*rules, "import-warc", "newer.warc.gz")
    assert report["pages left out because the crawl has forgotten them"] == 1
    assert shell("query", "--urls", "words") == "https://a.org/events\n"


def test_a_link_to_an_imported_page_does_not_take_its_mark(shell: Shell, tmp_path: Path) -> None:
    imported(shell, tmp_path)
    Path("seed.txt").write_text("https://a.org/loops\n")
    shell("inject", "seed.txt")
    assert shell.json("explain", "--no-links", "https://a.org/loops")["source"] == "warc:old.warc.gz"


@pytest.mark.parametrize(
    "content",
    [b"<html>a page</html>", gzip.compress(b"a text file\n" * 100), b"\0" * 999],
    ids=["page", "text", "zeros"],
)
def test_a_file_that_is_no_archive_is_named_and_nothing_is_imported(
    shell: Shell, tmp_path: Path, content: bytes
) -> None:
    write(tmp_path / "good.warc.gz", record("https://a.org/", answer(page("loops"))))
    (tmp_path / "notes.txt").write_bytes(content)
    told = shell("import-warc", "good.warc.gz", "notes.txt", "--runner", "inline", code=1)
    assert "notes.txt: no web archive" in told
    assert told.endswith("give WARC or ARC files; nothing was imported\n")
    assert not (tmp_path / "crawl").exists()


def test_an_empty_archive_is_told(shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "good.warc.gz", record("https://a.org/", answer(page("loops"))))
    (tmp_path / "empty.warc.gz").write_bytes(b"")
    (tmp_path / "nothing.warc.gz").write_bytes(gzip.compress(b""))
    assert run(["import-warc", "good.warc.gz", "empty.warc.gz", "nothing.warc.gz", "--runner", "inline"]) == 0
    told = capsys.readouterr().err
    assert "empty.warc.gz is empty: it has no records" in told
    assert "nothing.warc.gz is empty" in told
    assert shell("query", "--urls", "loops") == "https://a.org/\n"


def test_an_archive_whose_first_record_is_damaged_is_an_archive(shell: Shell, tmp_path: Path) -> None:
    whole = gzip.compress(record("https://a.org/", answer(page("loops"))))
    (tmp_path / "cut.warc.gz").write_bytes(whole[40:] + whole)
    assert shell.json("import-warc", "cut.warc.gz", "--runner", "inline")["pages"] == 1
