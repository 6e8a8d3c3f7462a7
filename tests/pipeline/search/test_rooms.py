"""The rooms of search are in an order, and a query process imports only what it needs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import crawlctl.pipeline.search
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.store.local.store import LocalStore

ROOMS = ("query", "rules", "plan", "evaluate", "open", "suggestions", "answer")
SEARCH = Path(crawlctl.pipeline.search.__path__[0])
PREFIX = "crawlctl.pipeline.search."

ONE_QUERY = """
import sys
from crawlctl.pipeline.search.answer.answer import answer
from crawlctl.pipeline.search.answer.find import SearchOptions
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.store.open import open_store

searcher = open_index(open_store(sys.argv[1]))
for query in ("red tree", '"red tree" -house', "title:tr* OR 1..9 site:example"):
    for sort in ("score", "date"):
        answer(searcher, parse(query), SearchOptions(sort=sort, explain=True))
print(*sys.modules)
"""
NOT_FOR_QUERIES = (
    "crawlctl.pipeline.index.building",
    "crawlctl.pipeline.index.merge",
    "crawlctl.pipeline.arrays",
    "numpy",
    "mrjob",
    "boto3",
    "yaml",
)


def imports_of(path: Path) -> Iterator[str]:
    """Yield the modules of search that a module imports, also in functions and for type checking."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX))


def test_each_room_is_in_the_order() -> None:
    assert {path.name for path in SEARCH.iterdir() if (path / "__init__.py").exists()} == set(ROOMS)


@pytest.mark.parametrize(
    "path", sorted(SEARCH.glob("*/*.py")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_a_room_imports_only_earlier_rooms(path: Path) -> None:
    own = ROOMS.index(path.parent.name)
    for module in imports_of(path):
        assert ROOMS.index(module.partition(".")[0]) <= own, f"{path.parent.name} may not import {module}"


def test_a_process_that_answers_one_query_imports_only_what_it_needs(store: LocalStore) -> None:
    write_index(store, [[Page("http://a.example/", title="a tree", text="red tree 7", prior=3)]])
    command = [sys.executable, "-c", ONE_QUERY, str(store.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    loaded = done.stdout.split()
    heavy = [name for name in loaded if any(f"{name}.".startswith(f"{bad}.") for bad in NOT_FOR_QUERIES)]
    assert heavy == []
