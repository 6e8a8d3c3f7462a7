"""A page read from HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.text.html.html import parse_html

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.text.documents.page import Page


@pytest.fixture
def read() -> Callable[..., Page]:
    """Return what reads HTML as the page http://example.com/dir/page.html."""

    def page_of(html: str, settings: ParseSettings | None = None) -> Page:
        return parse_html(html, "http://example.com/dir/page.html", settings or ParseSettings())

    return page_of
