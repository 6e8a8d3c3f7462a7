"""What strangers write reaches no terminal and no reader of JSON raw, by whichever command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.commands.shared import group
from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import TEXT
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.progress.display import LineDisplay
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.merge.update import advance_part, inject
from crawlctl.pipeline.webdb.part import with_parts
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.commands.conftest import Shell

# CSI of C1 and a command behind it, DEL, ESC, an override of direction and its end, marks, separators.
EVIL = "x\x9b31m\x7f\x1b]0;t\x07\u202etxt.exe\u202c\u2066\u200f\u061c\u2028\u2029\x85\x00\ry"
SEED, NOW = "https://a.example/", 1_700_000_000
COMMANDS_FOLDER = Path(group.__file__).parents[1]


def assert_harmless(printed: str) -> None:
    assert [one for one in printed if not (one.isprintable() or one in "\n\t")] == []


@pytest.fixture
def crawl(shell: Shell) -> Shell:
    """A crawl of one page and one failure, whose every text is hostile."""
    store = LocalStore(Path("crawl"))
    empty = create_crawl(store, 1)
    seeded = commit(store, empty, files=inject(store, empty, [SEED], NOW).files, round_number=0)
    fresh = [(webdb_key(SEED), Fresh(NOW, anchors=(EVIL,), source=EVIL))]
    heard = [(webdb_key(SEED), Outcome(Kind.FAILED, NOW + 60, reason=EVIL))]
    settings = RecrawlSettings()
    part = advance_part(store, seeded, 0, fresh, heard, now=NOW + 90, settings=settings, round_number=1)
    builder = RunBuilder()
    page = Document(SEED, EVIL, (EVIL,), EVIL, links=((SEED + "b", EVIL, False),), signature=b"s")
    builder.add(page)
    files = (*with_parts(seeded, part.files), *builder.write(store, partition=0, round_number=1))
    commit(store, seeded, files=files, round_number=1)
    return shell


def both_forms(shell: Shell, *arguments: str) -> str:
    """Return what a command prints as JSON, having looked at it and at the text."""
    assert_harmless(shell(*arguments))
    printed = shell(*arguments, "--json")
    assert_harmless(printed)
    return printed


def test_explain_escapes_reasons_anchors_and_titles(crawl: Shell) -> None:
    told = json.loads(both_forms(crawl, "explain", SEED))
    assert (told["reason"], told["anchors"][0]["text"]) == (EVIL, EVIL)


@pytest.mark.parametrize("command", ["pages", "hosts", "errors"])
def test_lists_escape_reasons(crawl: Shell, command: str) -> None:
    both_forms(crawl, command)


def test_errors_print_the_reason_of_a_stranger(crawl: Shell) -> None:
    told = json.loads(both_forms(crawl, "errors"))
    assert told["groups"][0]["reason"] == EVIL


def test_status_escapes_what_names_the_store(crawl: Shell) -> None:
    Path("crawl").rename(f"odd\x9b{EVIL[1:4]}")
    both_forms(crawl, "status", "--store", f"odd\x9b{EVIL[1:4]}")


@pytest.mark.parametrize(("table", "field"), [("webdb", "reason"), ("docs", "title")])
def test_dump_escapes_the_texts_of_records(crawl: Shell, table: str, field: str) -> None:
    lines = [json.loads(line) for line in both_forms(crawl, "dump", table).splitlines()]
    assert lines[0]["value"][field] == EVIL


@pytest.mark.parametrize("table", ["links", "postings"])
def test_dump_of_other_tables_is_harmless(crawl: Shell, table: str) -> None:
    both_forms(crawl, "dump", table)


def test_dump_escapes_the_records_and_the_header_of_any_file(shell: Shell) -> None:
    with (
        Path("odd.seq").open("wb") as sink,
        SequenceFileWriter(sink, key_class=TEXT, value_class=TEXT, metadata={"made by": EVIL}) as writer,
    ):
        writer.append(EVIL.encode(), EVIL.encode())
    assert json.loads(both_forms(shell, "dump", "odd.seq")) == {"key": EVIL, "value": EVIL}
    header = shell("dump", "--header", "odd.seq")
    assert_harmless(header)
    assert json.loads(header)["metadata"]["made by"] == EVIL


def test_query_escapes_titles_addresses_and_texts(shell: Shell) -> None:
    page = Page(f"https://a.org/{EVIL}", f"loop {EVIL}", f"a loop {EVIL} of text")
    write_index(LocalStore(Path("crawl")), [[page]])
    for options in ((), ("--urls",), ("--explain",)):
        assert_harmless(shell("query", *options, "loop"))
    printed = shell("query", "--json", "loop")
    assert_harmless(printed)
    assert json.loads(printed)["pages"][0]["url"] == page.url


def test_rank_prints_only_harmless_addresses(crawl: Shell) -> None:
    crawl("rank")
    both_forms(crawl, "rank", "--show")


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", f"nonsense{EVIL}"),
        ("explain", f"https://{EVIL}/"),
        ("show", f"https://a.example/{EVIL}"),
        ("pages", "--host", EVIL),
        ("pages", "--status", EVIL),
        ("dump", f"missing\x9b31m{EVIL[1:4]}"),
        ("query", f"({EVIL} OR"),
        ("--set", "no.such\x9b=1", "config"),
        ("--config", "no\x9bfile", "status"),
        ("status", "--store", "s3a://\x9b"),
        ("status", "--no-such-\x9boption"),
        ("no-such-\x9bcommand",),
        ("import-warc", "no\x9barchive"),
        ("inject", "no\x9bseeds"),
    ],
)
def test_errors_are_harmless(
    crawl: Shell, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(list(arguments)) in (1, 2)
    printed = capsys.readouterr()
    assert printed.err
    assert_harmless(printed.out + printed.err)


def test_a_bad_line_of_a_seed_file_is_harmless(crawl: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    Path("seed.txt").write_text("ftp://\x9b31m/\nhttps://b.example/\n", encoding="utf-8")
    assert run(["inject", "--skip-bad", "seed.txt"]) == 0
    assert run(["inject", "seed.txt"]) == 2
    printed = capsys.readouterr()
    assert_harmless(printed.out + printed.err)


def test_half_a_character_in_a_name_is_printed_as_an_escape(shell: Shell) -> None:
    assert "\\udc9b" in shell("init", "--store", "odd\udc9b")
    printed = shell("status", "--store", "odd\udc9b", "--json")
    assert json.loads(printed)["store"].endswith("odd\udc9b")


def test_progress_is_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    LineDisplay().say(EVIL)
    assert_harmless(capsys.readouterr().err)


def test_every_command_prints_by_the_functions_that_escape() -> None:
    by_others = [
        path.name
        for path in sorted(COMMANDS_FOLDER.rglob("*.py"))
        if re.search(r"\bclick\.echo\(|\bprint\(", path.read_text(encoding="utf-8"))
    ]
    assert by_others == []
