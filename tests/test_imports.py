"""Imports run one way, along the data: a folder uses only those before it (DESIGN and ARCHITECTURE.md)."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent

# What stands on one line may not import each other.
LAYERS = (
    {"pipeline.errors", "pipeline.clock", "pipeline.mrjob_light", "pipeline.terminal", "pipeline.arrays"},
    {"pipeline.config", "pipeline.processes", "pipeline.progress"},
    {"pipeline.formats", "pipeline.urls", "pipeline.orders"},
    {"pipeline.store"},
    {"pipeline.state", "pipeline.scope", "pipeline.robots"},
    {"pipeline.politeness", "pipeline.http"},
    {"pipeline.text"},
    {"pipeline.webdb"},
    {"pipeline.index"},
    {"pipeline.duplicates", "pipeline.rank", "pipeline.search"},
    {"pipeline.fetch"},
    {"pipeline.imports"},
    {"pipeline.copies"},
    {"jobs"},
    {"pipeline.runners"},
    {"pipeline.crawl", "pipeline.demo"},
    {"pipeline.commands"},
    {"cli"},
)
RANK = {area: rank for rank, areas in enumerate(LAYERS) for area in areas}
SOURCES = sorted([*ROOT.glob("jobs/*.py"), *ROOT.glob("pipeline/**/*.py"), ROOT / "cli.py"])


def area_of(module: str) -> str | None:
    """Return the area of a module named without the leading crawlctl."""
    return next((area for area in RANK if module == area or module.startswith(area + ".")), None)


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("crawlctl."):
            yield from (f"{node.module}.{alias.name}".removeprefix("crawlctl.") for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (
                alias.name.removeprefix("crawlctl.")
                for alias in node.names
                if alias.name.startswith("crawlctl.")
            )


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_what_lies_before_it(path: Path) -> None:
    own = area_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
    if own is None:
        assert path.name == "__init__.py"
        return
    for module in imports_of(path):
        used = area_of(module)
        assert used is not None, f"{module} belongs to no area: add it to LAYERS"
        assert used == own or RANK[used] < RANK[own], f"{own} may not import {used}"
