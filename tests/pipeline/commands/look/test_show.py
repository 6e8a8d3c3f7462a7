"""`crawlctl show` on a small crawl: stored texts, archived answers, and pages that are not stored."""

from __future__ import annotations

import gzip
import os
import pty
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import msgspec
import pytest

from crawlctl.cli import run
from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.crawl.listings.archive_search import ArchiveSearch
from crawlctl.pipeline.crawl.listings.page_captures import PageArchive
from crawlctl.pipeline.formats.source import PathSource
from crawlctl.pipeline.imports.answer_reader import AnswerReader
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import host_of, partition_of, webdb_key
from crawlctl.pipeline.webdb.records import Status, encode
from crawlctl.tests.pipeline.captures.made_captures import A as CAPTURED
from crawlctl.tests.pipeline.captures.made_captures import B as OTHER
from crawlctl.tests.pipeline.captures.made_captures import archived, make_captured, visit
from crawlctl.tests.pipeline.commands.small_crawl import (
    PARTITIONS,
    TEXTS,
    VISITED,
    A,
    B,
    archive,
    capture,
    entry,
)
from crawlctl.tests.pipeline.imports.archives import answer as http_answer
from crawlctl.tests.pipeline.imports.archives import record as warc_record
from crawlctl.tests.pipeline.webdb.layered_part import write_layered

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.commands.conftest import Shell

MAIN = "import crawlctl.cli; crawlctl.cli.main()"
OWN = partition_of(host_of(A), PARTITIONS)


@pytest.fixture
def crawl(shell: Shell, written_crawl: Path) -> Shell:
    copytree(written_crawl, "crawl")
    return shell


def add_archive(
    bodies: dict[str, bytes],
    round_number: int,
    partition: int,
    date: float = VISITED,
    content_type: str = "text/plain",
) -> None:
    store = LocalStore(Path("crawl"))
    snapshot = load_current(store)
    captures = [capture(url, body, date, content_type) for url, body in bodies.items()]
    added = archive(store, captures, round_number=round_number, partition=partition)
    commit(store, snapshot, files=(*snapshot.files, added), round_number=round_number)


def test_a_page_is_printed_as_text(crawl: Shell) -> None:
    assert crawl("show", "https://A.example:443/#top") == (
        f"Title of {A}\n{A}\nvisited 2023-11-14 22:13:20 UTC, in en\n\nAll about apes.\nThey eat.\n"
    )
    told = crawl.json("show", A)
    assert (told["title"], told["text"], told["fetched_at"]) == (f"Title of {A}", TEXTS[A], VISITED)


def test_nothing_of_a_page_steers_the_terminal_unless_it_is_raw(crawl: Shell) -> None:
    for arguments in (("show", B), ("show", B, "--json"), ("show", B, "--headers")):
        printed = crawl(*arguments)
        assert [one for one in printed if not (one.isprintable() or one == "\n")] == []
    assert crawl("show", "--raw", B) == TEXTS[B]


def test_the_newest_answer_is_taken_from_the_archives(crawl: Shell) -> None:
    assert crawl("show", "--raw", A) == TEXTS[A]
    add_archive({A: b"of the third round"}, 3, OWN)
    add_archive({A: b"of the second round", A + "gone-1": b"no more"}, 2, OWN, VISITED + 99)
    add_archive({A + "same": b"", A: b"later in the third"}, 3, OWN, VISITED + 9)
    assert crawl("show", "--raw", A) == "later in the third"
    assert crawl("show", "--raw", A + "same") == TEXTS[A + "same"], "a revisit has no body"
    assert crawl("show", "--raw", A + "gone-1") == "no more", "what the server sent, though it is gone"


def test_archives_that_a_copy_left_in_other_partitions_are_searched_last(crawl: Shell) -> None:
    other = (OWN + 1) % PARTITIONS
    add_archive({A: b"of before the copy", A + "old": b"moved"}, 9, other)
    assert crawl("show", "--raw", A) == TEXTS[A]
    assert crawl("show", "--raw", A + "old") == "moved"


def test_headers_are_printed_with_the_request_on_demand(crawl: Shell) -> None:
    printed = crawl("show", "--headers", A)
    assert printed.startswith("asked at 2023-11-14T22:13:20Z, in pages/")
    assert "\nHTTP/1.1 200 OK\nContent-Type: text/plain\n" in printed
    assert "GET" not in printed
    assert f"GET {A} HTTP/1.1\nAccept: */*\n\nHTTP/1.1 200 OK\n" in crawl("-v", "show", "--headers", A)
    told = crawl.json("show", "--headers", A)
    assert told["answer"][:2] == ["HTTP/1.1 200 OK", "Content-Type: text/plain"]
    whole = crawl("show", "--raw", "--headers", B)
    assert whole.startswith("HTTP/1.1 200 OK\r\n")
    assert whole.endswith(TEXTS[B])


@pytest.mark.parametrize("is_emptied", [True, False])
@pytest.mark.parametrize("option", ["--raw", "--headers"])
def test_an_archive_that_was_emptied_or_cut_off_is_named(crawl: Shell, option: str, is_emptied: bool) -> None:
    for path in Path("crawl/pages").rglob("*.warc.gz"):
        path.write_bytes(b"" if is_emptied else path.read_bytes()[:-1])
    message = crawl("show", option, A, code=1)
    assert ".warc.gz: damaged at byte " in message
    assert "bytes instead of" in message
    assert "`crawlctl check --repair` rebuilds" in message


@pytest.mark.parametrize(
    ("url", "why", "command"),
    [
        (A + "old", f"it leads to {A}", f"type `crawlctl show {A}`"),
        (A + "print", f"it has the content of {A}", f"type `crawlctl show {A}`"),
        (A + "gone-1", "gone (status 404)", f"`crawlctl show --raw {A}gone-1` searches the older archives"),
        (A + "slow", "fetched at 2023-11-14", "an imported page stays in the archive that it came from"),
        (A + "new", "not fetched: it is due", "fetch it with `crawlctl run`"),
        (A + "x?a=1&b=2", "unknown: no seed names it", f"`crawlctl explain '{A}x?a=1&b=2'` says more"),
        ("https://c.example/", "unknown, and it would be kept out", "`crawlctl explain https://c.example/`"),
    ],
)
def test_what_is_not_stored_is_explained(crawl: Shell, url: str, why: str, command: str) -> None:
    settings = ("--set", "scope.include=[a.example]")
    message = crawl(*settings, "show", url, code=1)
    assert f"{url} is not in the index: {why}" in message
    assert command in message
    assert message.count("\n") == 1
    unarchived = crawl(*settings, "show", "--raw", url, code=1)
    assert f"{url} is in no archive of this crawl (all 3 archives were searched): {why}" in unarchived


def test_raw_bytes_are_no_json(crawl: Shell) -> None:
    assert "leave out --raw or --json" in crawl("show", "--raw", "--json", A, code=2)


@pytest.mark.timeout(60)
def test_a_terminal_gets_no_bytes_that_could_steer_it(crawl: Shell) -> None:
    seen = {url: _in_a_terminal("show", "--raw", url) for url in (A, B)}
    assert b"All about apes.\r\nThey eat." in seen[A]
    assert b"\x1b" not in seen[B]
    assert f"write them to a file: `crawlctl show --raw {B} > FILE`".encode() in seen[B]


@pytest.fixture
def captured(shell: Shell) -> Shell:
    make_captured(LocalStore(Path("crawl")))
    return shell


def test_an_unchanged_page_is_shown_as_it_was_before(
    captured: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", "--raw", CAPTURED]) == 0
    told = capsys.readouterr()
    assert told.out == "<p>apes"
    assert told.err == (
        "unchanged when it was visited at 2023-11-15 22:13:20 UTC: "
        "this is the answer of 2023-11-14 22:13:20 UTC\n"
    )
    headers = captured.json("show", "--headers", CAPTURED)
    assert (headers["date"], headers["answer"][0]) == ("2023-11-14T22:13:20Z", "HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    ("at", "body"),
    [
        ("2023", "more bears"),
        ("2023-11-14", "bears"),
        ("2023-11-15T22:13:21Z", "bears"),
        ("20231116", "more bears"),
    ],
)
def test_an_older_answer_can_be_shown(captured: Shell, at: str, body: str) -> None:
    assert captured("show", "--raw", "--at", at, OTHER) == body


def test_the_text_of_an_older_answer_is_read_from_the_archives(captured: Shell) -> None:
    assert captured("show", "--at", "2023-11-14", OTHER).endswith(
        "visited 2023-11-14 22:13:22 UTC\n\nbears\n"
    )
    assert captured.json("show", "--at", "2023-11-15", OTHER)["text"] == "more bears"


@pytest.mark.parametrize(
    ("status", "why"), [(Status.DUPLICATE, f"it has the content of {OTHER}"), (Status.GONE, "gone")]
)
def test_a_page_that_is_not_in_the_index_is_read_from_the_archives_at_once(
    shell: Shell, status: Status, why: str
) -> None:
    make_visited(status)
    assert shell("show", CAPTURED).endswith("visited 2023-11-14 22:13:20 UTC\n\napes\n")
    assert f"{CAPTURED} is not in the index: {why}" in shell.said
    assert "this is what its archived answer says" in shell.said
    assert shell.json("show", CAPTURED)["text"] == "apes"


def test_a_redirect_has_no_text(shell: Shell) -> None:
    make_visited(Status.REDIRECTED)
    assert "older archives" not in shell("show", CAPTURED, code=1)
    assert f"type `crawlctl show '{OTHER}'`" in shell("show", CAPTURED, code=1)


def make_visited(status: Status) -> None:
    """Make a crawl with an archived answer of one page, which has this status."""
    store, number = LocalStore(Path("crawl")), partition_of(host_of(CAPTURED), PARTITIONS)
    rows = [webdb_key(CAPTURED)], [encode(entry(status, 200, leads_to=OTHER))]
    files = [
        *write_layered(store, *rows, partition=number, round_number=1),
        *archived(store, [visit(CAPTURED, 200, b"<p>apes", 0)], number, 1),
    ]
    commit(store, create_crawl(store, PARTITIONS), files=tuple(files), round_number=1)


def test_captures_are_listed(captured: Shell) -> None:
    first, second = captured.json("show", "--captures", CAPTURED)
    assert (first["status"], first["mime"], first["is_revisit"]) == (200, "text/html", False)
    assert (second["status"], second["is_revisit"], second["time"] - first["time"]) == (304, True, 86_400)
    lines = captured("show", "--captures", CAPTURED).splitlines()
    assert lines[0].split() == ["time", "status", "type", "bytes", "archive"]
    assert [line.split()[3:5] for line in lines[2:]] == [["200", "text/html"], ["304", "unchanged"]]


def test_what_is_not_captured_is_told(captured: Shell) -> None:
    early = captured("show", "--raw", "--at", "2022", OTHER, code=1)
    assert "has no capture until 2022; `crawlctl show --captures" in early
    unknown = captured("show", "--raw", f"{CAPTURED}none", code=1)
    assert f"{CAPTURED}none is in no archive of this crawl: unknown" in unknown


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--raw", "--at", "noon"], "'noon' is no time; give one such as 2026-05-09"),
        (["--captures", "--raw"], "leave out --markdown, --raw, --headers and --at"),
    ],
)
def test_odd_options_are_refused(captured: Shell, options: list[str], why: str) -> None:
    assert why in captured("show", *options, OTHER, code=2)


@pytest.mark.parametrize("is_listed", [True, False])
def test_the_original_of_an_unchanged_page_is_searched_behind_a_failure(
    tmp_path: Path, is_listed: bool
) -> None:
    store = LocalStore(tmp_path / "crawl")
    empty, files = create_crawl(store, 1), []
    for number, (status, body) in enumerate(((200, b"apes"), (404, b"no"), (304, b"")), 1):
        files += archived(store, [visit(CAPTURED, status, body, number)], 0, number)
        if number == 1 or not is_listed:
            files = [msgspec.structs.replace(one, counters={}) for one in files if one.kind == "pages"]
    snapshot = commit(store, empty, files=files, round_number=3)
    answers = PageArchive(store, snapshot, ArchiveSearch(store, snapshot, lambda done, files: None), CAPTURED)
    found = answers.captures()
    assert [one.status for one in found] == [200, 404, 304]
    assert answers.answer(found).body == b"apes"


def test_versions_of_a_page_that_were_compressed_together_are_told_apart(tmp_path: Path) -> None:
    path, store = tmp_path / "whole.warc.gz", LocalStore(tmp_path / "crawl")
    days = ("2024-05-18", "2024-05-19", "none", "2024-05-20")
    records = [warc_record(CAPTURED, http_answer(day), date=f"{day}T09:30:00Z") for day in days]
    path.write_bytes(gzip.compress(b"".join(records)))
    captures = [one for _, one in AnswerReader(Config()).answers(PathSource(path), str(path))]
    snapshot = create_crawl(store, 1)
    answers = PageArchive(store, snapshot, ArchiveSearch(store, snapshot, lambda done, files: None), CAPTURED)
    bodies = [answers.answer([one]).body.decode() for one in captures]
    assert bodies == [day for day in days if day != "none"]


def _in_a_terminal(*arguments: str) -> bytes:
    terminal, other = pty.openpty()
    command = [sys.executable, "-c", MAIN, *arguments]
    process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other)
    os.close(other)
    seen = b""
    try:
        while data := os.read(terminal, 4096):
            seen += data
    except OSError:  # how Linux says that nobody writes to it any more
        pass
    finally:
        os.close(terminal)
        process.wait(30)
    return seen


def test_bytes_leave_as_they_came(crawl: Shell) -> None:
    add_archive({A: bytes(range(256))}, 2, OWN)
    command = [sys.executable, "-c", MAIN, "show", "--raw", A]
    assert subprocess.run(command, capture_output=True, check=True).stdout == bytes(range(256))


def test_a_page_is_printed_as_markdown(crawl: Shell) -> None:
    assert crawl("show", "--markdown", A) == TEXTS[A] + "\n", "plain text stays as it is"
    page = b"<html><title>Apes</title><h1>All</h1><ul><li><a href='x'>about</a> \x1b[31m apes</ul>"
    add_archive({A: page, A + "zip": b"PK\x03\x04"}, 3, OWN, content_type="text/html")
    markdown = f"# All\n\n- [about]({A}x) [31m apes"
    assert crawl("show", "--markdown", A) == markdown + "\n"
    told = crawl.json("show", "--markdown", A)
    assert told == {"url": A, "date": "2023-11-14T22:13:20Z", "title": "Apes", "markdown": markdown}
    message = crawl("show", "--markdown", A + "zip", code=1)
    assert "cannot be written as Markdown (unsupported type: text/html)" in message
    assert f"`crawlctl show --raw {A}zip > FILE`" in message
    assert "give one of them" in crawl("show", "--markdown", "--raw", A, code=2)
