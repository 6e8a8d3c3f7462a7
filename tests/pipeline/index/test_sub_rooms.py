"""Imports between the sub-rooms of the index run one way, and a query needs only segments."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

INDEX = Path(__file__).parents[3] / "pipeline" / "index"
ORDER = ("segment", "runs", "building", "merge")  # each may import those before it


def imported_rooms(path: Path) -> set[str]:
    names = (
        node.module or ""
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
    )
    prefix = "crawlctl.pipeline.index."
    return {name.removeprefix(prefix).split(".")[0] for name in names if name.startswith(prefix)} & {*ORDER}


@pytest.mark.parametrize("room", ORDER)
def test_a_sub_room_imports_only_those_before_it(room: str) -> None:
    allowed = {*ORDER[: ORDER.index(room) + 1]}
    for path in (INDEX / room).rglob("*.py"):
        assert imported_rooms(path) <= allowed, path


def test_what_a_query_imports_of_the_index_is_segments_and_no_arrays() -> None:
    program = """
import sys
import crawlctl.pipeline.search.answer.find, crawlctl.pipeline.search.open.open_index
rooms = ("index.runs", "index.building", "index.merge", "arrays")
starts = tuple(f"crawlctl.pipeline.{room}" for room in rooms)
print(*(name for name in sys.modules if name.startswith(starts)))
"""
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert found.stdout.split() == []


def test_numpy_evaluates_a_query_without_building_or_merging() -> None:
    program = """
import sys
import crawlctl.pipeline.search.evaluate.vector_evaluator
rooms = ("index.runs", "index.building", "index.merge", "arrays.byte_strings")
starts = tuple(f"crawlctl.pipeline.{room}" for room in rooms)
print(*(name for name in sys.modules if name.startswith(starts)))
"""
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert found.stdout.split() == []
