from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.demo.modules import module_names

if TYPE_CHECKING:
    from pathlib import Path

NAMES = list(module_names())


def test_modules_and_what_packages_contain_are_there_once_and_in_order() -> None:
    assert {"json", "json.decoder", "email.mime.text", "sys", "unittest.mock"} <= set(NAMES)
    assert len(set(NAMES)) == len(NAMES)
    assert [name.partition(".")[0] for name in NAMES] == sorted(name.partition(".")[0] for name in NAMES)
    assert NAMES.index("email") < NAMES.index("email.mime") < NAMES.index("email.mime.text")


@pytest.mark.parametrize(
    "name", ["antigravity", "this", "idlelib", "tkinter", "turtle", "tests", "test", "readline"]
)
def test_what_does_more_than_define_is_left_out(name: str) -> None:
    assert [found for found in NAMES if name in found.split(".")] == []


def test_private_modules_and_programs_are_left_out() -> None:
    assert [name for name in NAMES if any(part.startswith("_") for part in name.split("."))] == []


def test_nothing_is_imported_to_find_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("xmlrpc")]:
        monkeypatch.delitem(sys.modules, name)
    assert "xmlrpc.client" in module_names()
    assert "xmlrpc" not in sys.modules


def test_a_namesake_from_an_added_package_is_not_taken_for_the_real_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "colorsys.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    assert "colorsys" in NAMES
    assert set(NAMES) - set(module_names()) == {"colorsys"}
