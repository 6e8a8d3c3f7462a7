"""Parses plain text, and tidies lines for the other parsers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.text.documents.page import Page

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import ParseSettings


def parse_text(text: str, settings: ParseSettings) -> Page:
    """Return a plain text as a page whose title is its first line."""
    kept = squeezed_lines(text[: settings.max_text])
    return Page(
        title=first_line(kept, settings.max_title), text=kept, truncated=len(text) > settings.max_text
    )


def squeezed_lines(text: str) -> str:
    """Return a text without empty lines and with single spaces between the words of a line."""
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.splitlines())))


def first_line(text: str, limit: int) -> str:
    """Return the first line of a text, cut at `limit` characters."""
    return text[: text.find("\n") if "\n" in text else len(text)][:limit].rstrip()
