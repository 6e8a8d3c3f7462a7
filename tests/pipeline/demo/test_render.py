from __future__ import annotations

import sysconfig
from typing import TYPE_CHECKING

from crawlctl.pipeline.demo.render import LINK, render

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_module_becomes_a_page_with_its_summary_and_links() -> None:
    page = render(["json.decoder"])["json.decoder"]
    assert page.summary == "Implementation of JSONDecoder"
    assert "<title>Python: json.decoder: Implementation of JSONDecoder</title>" in page.html
    assert {"json", "json.scanner", "builtins"} <= {match[1] for match in LINK.finditer(page.html)}
    assert page.modified > 0


def test_the_place_of_the_library_and_addresses_in_memory_do_not_show() -> None:
    page = render(["sched"])["sched"].html
    assert "object at an-address" in page
    assert "at 0x" not in page
    assert sysconfig.get_path("stdlib") not in page
    assert "Lib/sched.py" in page


def test_modules_may_be_noisy_broken_or_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    noise = "import sys, warnings\nprint('out')\nprint('err', file=sys.stderr)\nwarnings.warn('old')\n"
    (tmp_path / "demo_noisy.py").write_text(noise)
    (tmp_path / "demo_broken.py").write_text("raise OSError('no such device')\n")
    assert list(render(["demo_broken", "demo_noisy", "demo_missing"])) == ["demo_noisy"]
    assert capfd.readouterr() == ("", "")


def test_a_module_that_pydoc_cannot_render_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "demo_odd.py").write_text(
        "class Odd:\n def __repr__(self): raise OSError\nodd = Odd()\n__all__ = 7\n"
    )
    assert list(render(["demo_odd", "colorsys"])) == ["colorsys"]
