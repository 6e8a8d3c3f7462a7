"""Where the parts of a result lead: the page, its section, its host; addresses of strangers are checked."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

import msgspec

from crawlctl.pipeline.search.answer.snippets import ELLIPSIS
from crawlctl.pipeline.terminal.printable import blanked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.text.documents.page import Section

_MAX_CRUMB = 40  # the most characters shown of one part of a path
_MAX_CRUMBS = 4  # the most parts of a path that are shown; of a longer path, the first parts and the last
_MAX_HEADING = 80  # the most characters shown of a heading


def safe_link(url: str) -> str:
    """Return the URL of a web page, and an empty text for all others, such as javascript: and data:."""
    return url if url.startswith(("http://", "https://")) else ""


def breadcrumb(url: str) -> list[str]:
    """Return the host and the parts of the path of a URL, as people read them."""
    try:
        split = urlsplit(url)
    except ValueError:
        return [blanked(url)[:_MAX_CRUMB]]
    parts = [unquote(part, errors="replace") for part in split.path.split("/") if part]
    if len(parts) > _MAX_CRUMBS:
        parts = [*parts[:2], ELLIPSIS, *parts[-1:]]
    return [_short(part, _MAX_CRUMB) for part in (split.netloc, *parts)]


def _short(text: str, most: int) -> str:
    """Return a text as it is shown, cut to `most` characters with the sign that it was cut."""
    text = blanked(text)
    return text if len(text) <= most else text[: most - 1].rstrip() + ELLIPSIS


class SectionLink(msgspec.Struct, frozen=True):
    """The section of a page that a snippet was taken from: its heading, and the URL that leads there."""

    title: str
    url: str


def section_link(url: str, sections: Sequence[Section], at: int | None) -> SectionLink | None:
    """Return the section of a page that contains the character `at` of its text; None if it has no anchor."""
    link = safe_link(url)
    if at is None or not (link and sections):
        return None
    number = bisect_right([one.offset for one in sections], at) - 1
    section = sections[number] if number >= 0 else None
    if section is None or not section.anchor:
        return None
    title = _short(section.title.strip(), _MAX_HEADING).strip() or "the section"
    return SectionLink(title, f"{link.partition('#')[0]}#{quote(section.anchor, safe='')}")
