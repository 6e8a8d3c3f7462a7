"""`crawlctl query` over a damaged crawl: the right answer, or one line that names the file and the remedy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.commands.damaged_crawl import flipped, linked_copy, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.tests.pipeline.commands.damaged_crawl import SmallCrawl

pytestmark = pytest.mark.slow

QUERIES = (
    ("--json", "leaf"),
    ("--sort", "date", "below", "leaf"),
    ("--urls", "n0p1*"),
    ("--explain", '"leaf 1"', "OR", "home"),
    ("--count", "leaf"),
    ("leef",),  # a correction comes from the table of words
    ("blatt",),  # a synonym
    ("--json", "--all", "--limit", "100", "*"),  # shows all documents: no block of theirs is left unread
)
SYNONYM = "search.synonyms=[blatt = leaf]"
READ_BY_QUERIES = {
    *("deleted", "groups", "priors", "rules"),
    *("dictionary/data", "dictionary/index", "dictionary/words"),
    *("segments/columns", "segments/docs/data", "segments/docs/index", "segments/postings"),
}


def often_flipped(data: bytes) -> bytes:
    """Return the bytes with a bit changed in every kilobyte, so in each block that a query may read."""
    return b"".join(flipped(data[start : start + 1024]) for start in range(0, len(data), 1024))


DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "deleted": lambda _data: None,
    "flipped": often_flipped,
    "cut off": lambda data: data[: len(data) * 2 // 3],
}


@pytest.fixture(params=["plain", "vector"])
def evaluator(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The evaluator that queries use; where numpy is loaded, as in tests, that is else the vector one."""
    if request.param == "plain":
        choose = lambda searcher, plan: PlainEvaluator(searcher.reader, plan)  # noqa: E731
        monkeypatch.setattr("crawlctl.pipeline.search.answer.find._evaluator", choose)
    return str(request.param)


def kind_of(entry: FileEntry) -> str:
    """Return the kind of a file, with its name in its folder, such as segments/docs/data."""
    return entry.kind + re.sub(r".*/[0-9a-f-]+(?=[./]|$)", "", entry.name)


def largest_of_each_kind(store: LocalStore) -> dict[str, FileEntry]:
    """Return the largest file of each kind and name that queries read."""
    files = sorted(load_current(store).files, key=lambda one: one.bytes)
    return {kind_of(entry): entry for entry in files if kind_of(entry) in READ_BY_QUERIES}


def asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[int, str, str]]:
    answers = []
    for query in QUERIES:
        code = run(["query", *query, "--store", str(folder)])
        answers.append((code, *capsys.readouterr()))
    return answers


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.usefixtures("evaluator")
def test_a_query_answers_as_before_or_names_the_file_and_the_remedy(
    small: SmallCrawl, tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    whole = linked_copy(small.folder, tmp_path / "whole")
    assert run(["config", "set", SYNONYM, "--store", str(whole)]) == 0
    capsys.readouterr()
    sound, noticed = asked(whole, capsys), set()
    assert {code for code, _, _ in sound} == {0} and "did you mean leaf?" in str(sound)
    for kind, entry in largest_of_each_kind(LocalStore(whole)).items():
        folder = linked_copy(whole, tmp_path / kind)
        replace_file(folder, entry.name, DAMAGES[damage]((folder / entry.name).read_bytes()))
        for found, wanted in zip(asked(folder, capsys), sound, strict=True):
            if found != wanted:
                noticed.add(kind)
                assert_is_error_about(entry.name, *found)
    assert noticed >= READ_BY_QUERIES


def assert_is_error_about(name: str, code: int, out: str, err: Any) -> None:
    assert (code, out) == (1, ""), name
    assert len(err.splitlines()) == 1
    assert name.removesuffix("/data").removesuffix("/index") in err  # of a MapFile
    assert "`crawlctl check --repair --store " in err
