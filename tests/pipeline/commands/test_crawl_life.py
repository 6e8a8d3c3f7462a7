"""A crawl through its commands, from init to gc."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.config.settings import OWN_SECTIONS
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import LONG
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.state.layout import KIND_KEY
from crawlctl.pipeline.state.leases.lease import hold_lease
from crawlctl.pipeline.state.snapshots import commit, load_current
from crawlctl.pipeline.store.open import open_store

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.commands.conftest import Shell

ROOT = Path(__file__).parent.parent.parent.parent


@pytest.fixture
def crawlctl(shell: Shell) -> Shell:
    Path("seed.txt").write_text((ROOT / "seed.txt").read_text())
    return shell


@pytest.fixture
def injected(crawlctl: Shell) -> Shell:
    crawlctl("init", "--partitions", "3")
    crawlctl("inject")
    return crawlctl


def test_the_seeds_of_the_repository_are_injected_once(crawlctl: Shell) -> None:
    assert crawlctl.json("init", "--partitions", "3")["partitions"] == 3
    first = crawlctl.json("inject")
    again = crawlctl.json("inject", "seed.txt")
    assert first["new"] > 0
    assert (first["known"], first["skipped"]) == (0, 0)
    assert again == {"new": 0, "known": first["new"], "let_in": 0, "skipped": 0}
    status = crawlctl.json("status", "--due")
    assert (status["urls"], status["due"]["now"], status["holder"]) == (first["new"], first["new"], None)
    assert status["statuses"] == {"unfetched": first["new"]}
    assert status["snapshot"] == 2


def test_what_is_printed_for_people_says_the_same(injected: Shell) -> None:
    printed = injected("status")
    assert "not fetched" in printed
    assert "in use" not in printed


def test_the_help_of_init_names_every_section_that_a_crawl_owns(crawlctl: Shell) -> None:
    said = crawlctl("init", "--help")
    assert [section for section in OWN_SECTIONS if not re.search(rf"\b{section}\b", said)] == []


def test_a_second_init_is_refused(injected: Shell) -> None:
    assert "holds a crawl already" in injected("init", code=1)


@pytest.mark.parametrize("command", ["inject", "status", "gc"])
def test_without_a_crawl_the_error_names_run_and_nothing_is_made(crawlctl: Shell, command: str) -> None:
    assert "crawlctl run https://… --store" in crawlctl(command, code=1)
    assert not Path("crawl").exists()


def test_urls_and_files_are_injected_together(injected: Shell) -> None:
    Path("more.txt").write_text("https://file.example/\n")
    words = ("https://typed.example/", "typed.com/a", "more.txt")
    assert injected.json("inject", *words) == {"new": 3, "known": 0, "let_in": 0, "skipped": 0}


def test_a_seed_outside_the_scope_injects_nothing_unless_skipped(injected: Shell) -> None:
    Path("more.txt").write_text("https://a.example/\nhttps://b.example/\n")
    before = injected.json("status")
    rule = ("--set", "scope.exclude=[b.example, https://c.example/x*]")
    assert "line 2: https://b.example/ is outside the scope" in injected("inject", "more.txt", *rule, code=2)
    error = injected("inject", "https://a.example/", "https://c.example/xy", *rule, code=2)
    assert "argument 2: https://c.example/xy is outside the scope: scope.exclude: the rule " in error
    only = ("--set", "scope.include=[a.example]")
    error = injected("inject", "https://d.example/", *only, code=2)
    assert "(a.example); add a rule for it to scope.include, or leave the URL out" in error
    assert injected.json("status") == before
    words = ("more.txt", "--skip-bad", *rule)
    assert injected.json("inject", *words) == {"new": 1, "known": 0, "let_in": 0, "skipped": 1}


def test_a_bad_seed_line_injects_nothing_unless_skipped(injected: Shell) -> None:
    Path("bad.txt").write_text("https://good.example/\nhtp://bad.example/\n")
    before = injected.json("status")
    error = injected("inject", "bad.txt", code=2)
    assert "line 2" in error
    assert "--skip-bad" in error
    assert injected.json("status") == before
    assert injected.json("inject", "bad.txt", "--skip-bad") == {
        "new": 1,
        "known": 0,
        "let_in": 0,
        "skipped": 1,
    }


def test_a_missing_seed_file_is_a_usage_error(injected: Shell) -> None:
    assert "nowhere.txt: No such file" in injected("inject", "nowhere.txt", code=2)


@pytest.mark.parametrize("command", ["inject", "gc"])
def test_a_busy_store_exits_with_75_and_names_the_holder(injected: Shell, command: str) -> None:
    with hold_lease(open_store("crawl"), 60, "run"):
        assert "in use by `crawlctl run`" in injected(command, code=75)
        assert injected.json("status")["holder"].startswith("crawlctl run, process")


def test_dump_prints_the_webdb_as_lines(injected: Shell) -> None:
    lines = [line.split("\t") for line in injected("dump", "webdb").splitlines()]
    assert len(lines) == injected.json("status")["urls"]
    key, value = next(line for line in lines if line[0].endswith("/3/"))
    assert key == "docs.python.org https://docs.python.org/3/"
    assert json.loads(value)["status"] == "unfetched"


def test_dump_of_the_partitions_is_the_dump_of_the_table(injected: Shell) -> None:
    parts = [injected("dump", "webdb", "--partition", str(number)) for number in range(3)]
    assert sorted("".join(parts).splitlines()) == sorted(injected("dump", "webdb").splitlines())


def test_dump_stops_at_the_limit(injected: Shell) -> None:
    assert len(injected("dump", "webdb", "--limit", "2").splitlines()) == 2


def test_dump_reads_a_mapfile_by_its_folder(injected: Shell) -> None:
    (data, *_) = Path("crawl/webdb").glob("*/*/data")
    by_folder = injected("dump", "--json", str(data.parent))
    assert by_folder == injected("dump", "--json", str(data))
    assert json.loads(by_folder.splitlines()[0])["value"]["status"] == "unfetched"
    assert json.loads(injected("dump", "--header", str(data)))["compression"] == "block"


def test_dump_keeps_a_record_on_one_line(crawlctl: Shell) -> None:
    with Path("odd.seq").open("wb") as sink, SequenceFileWriter(sink) as writer:
        writer.append(b"a\nb\x1b[2J", b"\xff\x00")
        writer.append("é".encode(), b"plain")
    assert crawlctl("dump", "odd.seq") == "a\\nb\\x1b[2J\t/wA=\né\tplain\n"


def test_dump_of_a_value_that_its_table_cannot_hold_names_the_file(crawlctl: Shell) -> None:
    with Path("bad.seq").open("wb") as sink, SequenceFileWriter(sink, metadata={KIND_KEY: "fresh"}) as writer:
        writer.append(b"k", b"\xc1")
    assert "bad.seq: damaged at byte 0: not a file of the table it names" in crawlctl(
        "dump", "bad.seq", code=1
    )


def test_dump_shows_every_table_of_a_run(crawlctl: Shell) -> None:
    crawlctl("init", "--partitions", "1")
    store = open_store("crawl")
    builder = RunBuilder()
    builder.add(
        Document("https://example.org/", title="Hello", links=(("https://example.org/a", "a", False),))
    )
    run = builder.write(store, partition=0, round_number=1)
    commit(store, load_current(store), files=run, round_number=1)
    assert crawlctl.json("dump", "docs")["value"]["title"] == "Hello"
    assert crawlctl.json("dump", "links")["value"]["nofollow"] == [False]
    terms = [json.loads(line) for line in crawlctl("dump", "postings", "--json").splitlines()]
    (slice_of_terms,) = terms
    assert slice_of_terms["key"] == "example"
    assert slice_of_terms["value"]["hello"] == {"documents": [0], "positions": [[2 << 20]]}


def test_dump_shows_numbers(crawlctl: Shell) -> None:
    with Path("numbers.seq").open("wb") as sink, SequenceFileWriter(sink, value_class=LONG) as writer:
        writer.append(b"k", (258).to_bytes(8, "big"))
    assert crawlctl("dump", "numbers.seq") == "k\t258\n"


def test_dump_of_what_is_no_sequencefile_names_file_and_offset(crawlctl: Shell) -> None:
    assert "seed.txt: damaged at byte 0" in crawlctl("dump", "seed.txt", code=1)


def test_dump_of_a_missing_file_is_one_line(crawlctl: Shell) -> None:
    assert crawlctl("dump", "no/where", code=1).startswith("crawlctl: no/where: No such file")


def test_gc_deletes_what_the_kept_snapshots_do_not_name(injected: Shell) -> None:
    injected("config", "set", "scope.max_depth=5")
    injected("config", "set", "scope.max_depth=6")
    before = injected("dump", "webdb")
    assert "`crawlctl gc --min-age 0s` deletes them" in injected("gc", "--keep", "1", "--dry-run")
    named = injected("gc", "--keep", "1", "--dry-run", "--store", "crawl")
    assert "`crawlctl gc --min-age 0s --store crawl` deletes them" in named
    listed = injected.json("gc", "--keep", "1", "--min-age", "0", "--dry-run")
    assert len(listed["snapshots"]) == 3
    assert len(listed["files"]) >= 1
    collected = injected.json("gc", "--keep", "1", "--min-age", "0")
    assert collected == {**listed, "dry_run": False}
    assert injected("dump", "webdb") == before
    assert injected.json("gc", "--keep", "1", "--min-age", "0")["files"] == []
