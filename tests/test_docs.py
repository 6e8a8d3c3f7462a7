"""The documentation says what the code does: generated parts are up to date, and links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "bench" / "README.md"])
LINK = re.compile(r"\]\(([^)\s]+)\)")
HOW = "run `python docs/generate.py`"


@cache
def generator() -> Any:
    """docs/generate.py as a module: the folder docs/ is not a package."""
    spec = importlib.util.spec_from_file_location("crawlctl_docs", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_reference_is_what_help_prints() -> None:
    assert generator().REFERENCE.read_text(encoding="utf-8") == generator().command_reference(), HOW


def test_the_file_maps_are_up_to_date() -> None:
    assert generator().ARCHITECTURE.read_text(encoding="utf-8") == generator().architecture(), HOW


def test_every_folder_states_its_question_in_one_sentence() -> None:
    for path in sorted(ROOT.glob("pipeline/**/__init__.py")):
        text = path.read_text(encoding="utf-8")
        assert re.match(r'""".+[?.]', text), f"{path.relative_to(ROOT)} needs a docstring"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_other_files_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        found = (page.parent / name) if name else page
        assert found.exists(), f"{page.name} links to {target}"
        if anchor and found.suffix == ".md":
            assert anchor in anchors_of(found), f"{page.name} links to {target}"


def anchors_of(page: Path) -> set[str]:
    """The anchors GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
