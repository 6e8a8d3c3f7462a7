"""Imports run one way, along the data, without cycles; names stand once (see ARCHITECTURE.md)."""

from __future__ import annotations

import ast
import collections.abc
import typing
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
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
    {"pipeline.state", "pipeline.scope", "pipeline.robots", "pipeline.sitemaps"},
    {"pipeline.politeness", "pipeline.http"},
    {"pipeline.text", "pipeline.captures"},
    {"pipeline.webdb"},
    {"pipeline.index"},
    {"pipeline.duplicates", "pipeline.rank", "pipeline.search"},
    {"pipeline.fetch"},
    {"pipeline.imports"},
    {"pipeline.copies"},
    {"pipeline.repair"},
    {"jobs"},
    {"pipeline.runners"},
    {"pipeline.crawl", "pipeline.demo"},
    {"pipeline.serve"},
    {"pipeline.commands"},
    {"cli"},
)
RANK = {area: rank for rank, areas in enumerate(LAYERS) for area in areas}
SOURCES = sorted([*ROOT.glob("jobs/**/*.py"), *ROOT.glob("pipeline/**/*.py"), ROOT / "cli.py"])


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


def runs_in(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a module that run: all but those under `if TYPE_CHECKING`."""
    if isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING":
        return
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from runs_in(child)


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_no_modules_import_each_other_in_a_cycle() -> None:
    modules = {name_of(path): path for path in SOURCES if path.name != "__init__.py"}
    graph: dict[str, set[str]] = defaultdict(set)
    for name, path in modules.items():
        for node in runs_in(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("crawlctl."):
                used = node.module.removeprefix("crawlctl.")
                graph[name] |= {used} | {f"{used}.{alias.name}" for alias in node.names}
    try:
        TopologicalSorter({name: graph[name] & set(modules) for name in modules}).prepare()
    except CycleError as err:
        pytest.fail(f"imports go round: {' -> '.join(err.args[1])}")


def test_no_public_class_name_stands_twice_in_a_layer() -> None:
    homes: dict[tuple[str | None, str], list[str]] = defaultdict(list)
    for path in SOURCES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[area_of(name_of(path)), node.name].append(name_of(path))
    assert {key: names for key, names in homes.items() if len(names) > 1} == {}


def test_no_public_name_shadows_one_of_typing_or_collections() -> None:
    taken = {*typing.__all__, *collections.__all__, *collections.abc.__all__}
    for path in SOURCES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.name not in taken, f"{name_of(path)}.{node.name}"


SAME_PART = {  # file names that play the same part in several folders
    "import_warc",  # the job, and the command that starts it
    "hosts",  # of URLs, and the command that lists them
    "pages",  # of the demo web, and the command that lists those of a crawl
    "order",  # what the tasks of a folder are told
    "task",  # what a task of the folder does
    "errors",  # the errors of a library or service, in our words
    "store",  # the class of a kind of store
    "client",
    "upload",
    "runner",  # the class of a runner
}


def test_a_file_name_stands_once_in_the_tree_unless_it_plays_the_same_part() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in SOURCES:
        if path.name != "__init__.py" and path.stem not in SAME_PART:
            found[path.stem].append(name_of(path))
    assert {stem: names for stem, names in found.items() if len(names) > 1} == {}


def test_no_folder_holds_more_than_about_a_dozen_modules() -> None:
    sizes = {
        str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) - 1
        for folder in {path.parent for path in SOURCES} - {ROOT}
    }
    assert {folder: size for folder, size in sizes.items() if size > 14} == {}
