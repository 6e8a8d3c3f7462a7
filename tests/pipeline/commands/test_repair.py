"""`crawlctl check --repair` as it is typed: after it, searches answer as before, or it says what was lost."""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.cli import run
from crawlctl.pipeline.crawl.history.history_files import JOINED
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.snapshots import commit, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.layers.layer import layers_of
from crawlctl.pipeline.webdb.repeated.block_table import RunBlocks
from crawlctl.tests.comparison import Crawled, crawled
from crawlctl.tests.pipeline.captures.made_captures import all_captures, unlist
from crawlctl.tests.pipeline.commands.damaged_crawl import flipped, linked_copy, replace_file
from crawlctl.tests.pipeline.commands.live_site import PATHS, LiveCrawl, crawled_site, live
from crawlctl.tests.pipeline.imports.archives import answer, page, record, write

if TYPE_CHECKING:
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.tests.pipeline.commands.conftest import Shell
    from crawlctl.tests.pipeline.commands.damaged_crawl import SmallCrawl

__all__ = ["crawled_site", "live"]

# Kinds of files that a repair makes again without a loss.
REBUILT = {
    "docs": r"segments/.*/docs/data",
    "docs index": r"segments/.*/docs/index",
    "links": r"segments/.*/links",
    "terms": r"segments/.*/terms/data",
    "postings": r"segments/.*/postings",
    "columns": r"segments/.*/columns",
    "sketches": r"segments/.*/sketches",
    "dictionary": r"dictionary/.*/data",
    "dictionary index": r"dictionary/.*/index",
    "webdb index": r"webdb/.*/index",
    "deleted": r"deleted/.*",
    "priors": r"priors/.*",
    "compared": r"compared/.*",
    "groups": r"groups/.*",
    "ranks": r"ranks/.*/url",
    "graph": r"graph/.*",
    "hosts": r"hosts/.*",
    "captures": r"captures/.*/data",
    "captures index": r"captures/.*/index",
}
# Each kind is damaged in one way here, and in the other way by `make integration`.
DAMAGED = [
    pytest.param(kind, damage, marks=[pytest.mark.integration] if (number + turn) % 2 else [])
    for number, kind in enumerate(REBUILT)
    for turn, damage in enumerate(("flipped", "deleted"))
]
QUERIES = (("leaf",), ("--sort", "date", "below"), ('"leaf 1"', "OR", "home"), ("n0p1*",))


def largest(small: SmallCrawl, pattern: str) -> FileEntry:
    found = [entry for entry in small.files() if re.fullmatch(pattern, entry.name)]
    return max(found, key=lambda entry: entry.bytes)


def answers(shell: Shell, folder: Path) -> list[int]:
    """Return how many pages match; a merge changes scores a little, so the order may differ."""
    return [shell.json("query", *query, "--store", str(folder))["total"] for query in QUERIES]


@cache
def sound(folder: Path) -> Crawled:
    """Return the tables of the crawl that nobody damages."""
    return crawled(LocalStore(folder))


def repaired(shell: Shell, folder: Path) -> str:
    told = shell("check", "--repair", "--runner", "inline", "--store", str(folder))
    assert shell("check", "--runner", "inline", "--store", str(folder)).endswith("all sound\n")
    return told


@pytest.fixture
def folder(small: SmallCrawl, tmp_path: Path) -> Path:
    """A copy of the small crawl that a test may damage."""
    return linked_copy(small.folder, tmp_path / "damaged")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "damage"), DAMAGED)
def test_what_can_be_made_again_is_there_again(
    shell: Shell, small: SmallCrawl, folder: Path, kind: str, damage: str
) -> None:
    entry, before = largest(small, REBUILT[kind]), load_current(LocalStore(folder))
    data = (folder / entry.name).read_bytes()
    replace_file(folder, entry.name, flipped(data) if damage == "flipped" else None)
    told = repaired(shell, folder)
    assert f"{entry.name}: it is " in told
    assert told.endswith("nothing was lost\n")
    after = load_current(LocalStore(folder))
    assert (after.number, after.parent) == (before.number + 1, before.writer)  # one new snapshot
    assert (folder / f"snapshots/{before.number:08d}.json").exists()
    assert answers(shell, folder) == answers(shell, small.folder)
    mine, theirs = crawled(LocalStore(folder)), sound(small.folder)
    for table in Crawled._fields:
        assert getattr(mine, table) == getattr(theirs, table), table
    assert all_captures(LocalStore(folder)) == all_captures(LocalStore(small.folder))


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flipped", "deleted"])
def test_a_damaged_table_of_blocks_is_begun_anew(
    shell: Shell, small: SmallCrawl, folder: Path, damage: str
) -> None:
    store = LocalStore(folder)
    before, run = load_current(store), RunBlocks()
    run.add(webdb_key(small.seeds[0]), b"hash" * 2)
    (entry,) = run.write(store, partition=0, round_number=before.round)
    commit(store, before, files=(*before.files, entry), round_number=before.round)
    assert shell("check", "--runner", "inline", "--store", str(folder)).endswith("all sound\n")
    data = (folder / entry.name).read_bytes()
    replace_file(folder, entry.name, flipped(data) if damage == "flipped" else None)
    told = repaired(shell, folder)
    assert f"{entry.name}: it is " in told
    assert told.endswith("nothing was lost\n")
    assert not load_current(store).files_of("blocks")


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flipped", "deleted"])
def test_pages_that_the_webdb_has_lost_come_back_from_the_archive(
    shell: Shell, small: SmallCrawl, folder: Path, damage: str
) -> None:
    entry = largest(small, r"webdb/.*/data")
    data = (folder / entry.name).read_bytes()
    replace_file(folder, entry.name, flipped(data) if damage == "flipped" else None)
    assert f"{counted(entry.records, 'row')} of the WebDB were lost" in repaired(shell, folder)
    mine, theirs = crawled(LocalStore(folder)), sound(small.folder)
    assert mine.documents == theirs.documents
    assert mine.webdb.keys() == theirs.webdb.keys()
    seeds = {url for url, fields in theirs.webdb.items() if fields["depth"] == 0}
    assert {url for url, fields in mine.webdb.items() if fields["depth"] == 0} == seeds
    assert answers(shell, folder) == answers(shell, small.folder)


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flipped", "deleted"])
@pytest.mark.parametrize("layer", [0, -1], ids=["oldest", "newest"])
def test_no_row_counts_twice_where_one_layer_of_the_webdb_is_damaged(
    live: LiveCrawl, layer: int, damage: str
) -> None:
    live("refresh", live.site.url("/docs/one"))
    live("run")
    store = LocalStore(Path("crawl"))
    layers = layers_of(load_current(store).files_of(WEBDB))
    entry, before = layers[layer].data, crawled(store)
    assert len(layers) > 1
    data = Path("crawl", entry.name).read_bytes()
    replace_file(Path("crawl"), entry.name, flipped(data) if damage == "flipped" else None)
    told = repaired(live.shell, Path("crawl"))
    assert f"{entry.name}: it is " in told and not re.search(r"-\d+ rows", told)
    assert ("as they were before their last change" in told) == (layer == -1)
    assert layer == 0 or "nothing was lost" not in told
    assert crawled(store).webdb.keys() == before.webdb.keys()
    assert live.json("status")["urls"] == len(before.webdb)
    assert live.found() == set(PATHS)


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flipped", "deleted"])
def test_a_damaged_extract_is_written_again_and_costs_no_row(live: LiveCrawl, damage: str) -> None:
    live("refresh", live.site.url("/docs/one"))
    live("run")
    store = LocalStore(Path("crawl"))
    entry, before = layers_of(load_current(store).files_of(WEBDB))[0].extract, crawled(store)
    assert entry is not None
    data = Path("crawl", entry.name).read_bytes()
    replace_file(Path("crawl"), entry.name, flipped(data) if damage == "flipped" else None)
    told = repaired(live.shell, Path("crawl"))
    assert f"{entry.name}: it is " in told and not re.search(r"-\d+ rows", told)
    assert crawled(store).webdb.keys() == before.webdb.keys()
    assert all(layer.extract for layer in layers_of(load_current(store).files_of(WEBDB)))
    live("refresh", live.site.url("/docs/one"))
    live("run")
    assert live.found() == set(PATHS)


@pytest.mark.slow
def test_an_older_layer_that_counts_the_whole_part_too_is_found_and_repaired(live: LiveCrawl) -> None:
    live("refresh", live.site.url("/docs/one"))
    live("run")
    store = LocalStore(Path("crawl"))
    snapshot = load_current(store)
    old, *_, newest = (layer.data for layer in layers_of(snapshot.files_of(WEBDB)))
    wrong = replace(old, records=newest.records, counters={**newest.counters, **old.counters})
    files = [wrong if entry == old else entry for entry in snapshot.files]
    commit(store, snapshot, files=files, round_number=snapshot.round)
    assert live.json("status")["urls"] == 2 * len(PATHS)
    assert f"{old.name}: it counts the URLs of the whole part" in repaired(live.shell, Path("crawl"))
    assert live.json("status")["urls"] == len(PATHS)


def test_a_damaged_block_of_the_webdb_costs_its_rows_alone(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("".join(f"https://a.org/{n}\n" for n in range(30_000)))
    shell("init", "--partitions", "1")
    shell("inject", "seeds")
    (data,) = (tmp_path / "crawl/webdb").rglob("data")
    content = data.read_bytes()
    replace_file(tmp_path, str(data.relative_to(tmp_path)), flipped(content))
    told = shell("check", "--repair", "--runner", "inline")
    lost = int(re.search(r"([\d,]+) rows of the WebDB were lost", told)[1].replace(",", ""))  # type: ignore[index]
    assert 0 < lost < 15_000
    assert shell.json("status")["urls"] == 30_000 - lost


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flipped", "deleted"])
def test_pages_of_a_damaged_archive_stay_in_the_index_and_are_due(
    shell: Shell, small: SmallCrawl, folder: Path, damage: str
) -> None:
    first = min(small.files("pages/"), key=lambda entry: entry.name.rpartition("/")[2])  # of round 1
    data = (folder / first.name).read_bytes()
    # The last record is the answer of a seed.
    replace_file(folder, first.name, data[:-20] if damage == "flipped" else None)
    told = repaired(shell, folder)
    assert re.search(
        r"\d pages? (is|are) due again: 0 cannot be searched until then, and \d (is|are) missing", told
    )
    assert answers(shell, folder) == answers(shell, small.folder)
    entries = crawled(LocalStore(folder)).webdb
    due = [fields for fields in entries.values() if str(fields["reason"]).startswith("its record in the ")]
    assert due and not any(fields["etag"] for fields in due)
    names = {entry.name for entry in load_current(LocalStore(folder)).files_of("pages")}
    named = {one.file for some in all_captures(LocalStore(folder)).values() for one in some}
    assert named and named <= names and first.name not in named


@pytest.mark.slow
def test_what_cannot_be_brought_back_is_counted_and_due(
    shell: Shell, small: SmallCrawl, folder: Path
) -> None:
    entry = largest(small, r"segments/.*/docs/data")
    archives = [one for one in small.files("pages/") if one.partition == entry.partition]
    for name in (entry.name, *(one.name for one in archives)):
        replace_file(folder, name, None)
    told = repaired(shell, folder)
    lost = int(re.search(r"(\d+) cannot be searched until then", told)[1])  # type: ignore[index]
    mine, theirs = crawled(LocalStore(folder)), sound(small.folder)
    assert lost == len(theirs.documents) - len(mine.documents) > 0
    gone = theirs.documents.keys() - mine.documents.keys()
    assert {mine.webdb[url]["reason"] for url in gone} == {"its document was damaged and is fetched again"}
    assert shell.json("status", "--due", "--store", str(folder))["due"]["now"] >= lost


def test_an_older_snapshot_is_named_when_the_current_one_is_damaged(
    shell: Shell, small: SmallCrawl, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    current = small.snapshot.number
    name = f"snapshots/{current:08d}.json"
    replace_file(folder, name, flipped((folder / name).read_bytes()))
    for arguments in (["check"], ["check", "--repair"]):
        assert run([*arguments, "--runner", "inline", "--store", str(folder)]) == 1
        told = capsys.readouterr().out
        assert f"{name}: it is damaged" in told
        assert f"snapshot {current - 1} is whole: go back to it with `crawlctl rollback {current - 1}" in told


def test_a_damaged_journal_of_the_open_round_is_told_and_repaired(
    shell: Shell, small: SmallCrawl, folder: Path
) -> None:
    record = folder / f"rounds/{small.snapshot.round + 1:08d}/fetch-00000-{'0' * 24}.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_bytes(b"crc32 00000000\n{}\n")
    assert record.name in repaired(shell, folder)
    assert not record.exists()


def test_archives_from_before_there_were_captures_are_listed(
    shell: Shell, small: SmallCrawl, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, wanted = LocalStore(folder), all_captures(LocalStore(small.folder))
    unlist(store)
    url = small.seeds[0]
    assert run(["show", "--raw", url, "--store", str(folder)]) == 0
    found = capsys.readouterr()
    assert found.out and "had to be searched; `crawlctl check --repair` lists them" in found.err
    assert run(["export", "--to", "cdxj", "-o", str(folder / "x.cdxj"), "--store", str(folder)]) == 1
    assert "list them with `crawlctl check --repair --store " in capsys.readouterr().err
    assert "their pages are listed now" in repaired(shell, folder)
    assert all_captures(store) == wanted
    assert run(["show", "--raw", url, "--store", str(folder)]) == 0
    again = capsys.readouterr()
    assert again.out.endswith(found.out) and "searched" not in again.err


def test_rows_of_the_history_that_are_lost_are_counted(shell: Shell, tmp_path: Path) -> None:
    shell("init", "--partitions", "1")
    for number in range(JOINED):  # the sixteenth row joins all into one file
        shell("inject", f"https://a.org/{number}")
    whole = shell.json("status", "--history")
    joined = max((tmp_path / "crawl/history").rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    replace_file(tmp_path, str(joined.relative_to(tmp_path)), flipped(joined.read_bytes()))
    told = shell("check", "--repair", "--runner", "inline")
    assert "1 row of the history was lost: `crawlctl status --history` no longer has this commit" in told
    assert "nothing was lost" not in told
    rows = shell.json("status", "--history")
    assert len(rows) == len(whole)  # one row less, and that of the repair
    assert [row for row in rows if row in whole] == rows[:-1]
    assert shell("check", "--runner", "inline").endswith("all sound\n")


@pytest.fixture
def imported(shell: Shell) -> Shell:
    """A crawl of three pages that were imported, and lie outside its scope."""
    urls = [f"https://a.org/{number}" for number in range(3)]
    write(Path("old.warc.gz"), *(record(url, answer(page(f"loop {url}"))) for url in urls))
    shell("import-warc", "old.warc.gz", "--runner", "inline", "--set", "partitions=1")
    return shell


def damage(kind: str, name: str) -> None:
    """Flip a bit in the only file of a name in a folder of the crawl."""
    (path,) = Path("crawl", kind).rglob(name)
    replace_file(Path(), str(path), flipped(path.read_bytes()))


def test_answers_of_imported_archives_that_are_lost_are_counted(imported: Shell) -> None:
    damage("captures", "data")
    told = imported("check", "--repair", "--runner", "inline")
    assert "3 imported answers were lost from the table of captures" in told
    assert "nothing was lost" not in told
    assert imported.json("query", "loop")["total"] == 3


def test_imported_pages_that_are_lost_come_back_by_another_import(imported: Shell) -> None:
    damage("segments", "docs/data")
    told = imported("check", "--repair", "--runner", "inline")
    assert "3 imported pages cannot be searched until you import the archives again" in told
    assert "due again" not in told and "nothing was lost" not in told
    assert imported.json("status", "--due")["due"]["now"] == 0
    assert "pages    3" in imported("import-warc", "old.warc.gz", "--runner", "inline")
    assert imported.json("query", "loop")["total"] == 3
    assert imported("check", "--runner", "inline").endswith("all sound\n")


def test_a_sound_crawl_is_left_alone(shell: Shell, small: SmallCrawl, folder: Path) -> None:
    told = shell("check", "--repair", "--runner", "inline", "--store", str(folder))
    assert told.endswith("there is nothing to repair\n")
    assert load_current(LocalStore(folder)) == small.snapshot
    shutil.rmtree(folder)
