"""`crawlctl config set` names search rules that match no page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.cli import run
from crawlctl.tests.pipeline.commands.live_site import LiveCrawl, crawled_site, live

if TYPE_CHECKING:
    import pytest

__all__ = ["crawled_site", "live"]


def test_a_pin_with_the_wrong_scheme_is_told_when_it_is_set(
    live: LiveCrawl, capsys: pytest.CaptureFixture[str]
) -> None:
    url = live.site.url("/docs/one")
    wrong = url.replace("http://", "https://")
    assert f"no page in the index matches {wrong}, but {url} does: write that" in _said(wrong, capsys)
    assert "no page in the index" not in _said(url, capsys)


def _said(url: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return all that is printed when a pin is set."""
    capsys.readouterr()
    assert run(["config", "set", f"search.pins={{page: [{url}]}}"]) == 0
    printed = capsys.readouterr()
    return printed.out + printed.err
