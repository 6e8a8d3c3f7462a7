"""Parses XML documents whose format we do not know: their text, a line per element that has one.

An element next to text, such as an emphasised word, stays within its line; other elements begin new lines.
The elements called `title`, which DocBook, TEI and many others have, are the headings.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlctl.pipeline.text.documents.page import Page, Unreadable
from crawlctl.pipeline.text.documents.plain_text import first_line, squeezed_lines
from crawlctl.pipeline.text.office.xml_events import Enough, read_xml
from crawlctl.pipeline.text.words.language import declared_language

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import ParseSettings

_TITLE = "title"
_SPACE = re.compile(r"\s+")  # a line break in the file does not begin a new line of the text


class _Lines:
    """A handler that collects all text; `titles` are the texts of title elements."""

    def __init__(self, room: int) -> None:
        self.pieces: list[str] = []
        self.titles: list[str] = []
        self.language = ""
        self.room = room
        self._mixed: list[bool] = []  # for each open element: whether it has text of its own
        self._title_from = -1  # the index in `pieces` where the open title begins; -1: no title is open

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        self._separate()
        if not self._mixed:
            self.language = attributes.get("lang", "")
        self._mixed.append(False)
        if tag.lower() == _TITLE and self._title_from < 0:
            self._title_from = len(self.pieces)

    def text(self, text: str) -> None:
        """Take a piece of text."""
        if not text.isspace():
            self._mixed[-1] = True
        self.pieces.append(_SPACE.sub(" ", text))
        self.room -= len(text)
        if self.room < 0:
            raise Enough

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        self._mixed.pop()
        if tag.lower() == _TITLE and self._title_from >= 0:
            title = " ".join("".join(self.pieces[self._title_from :]).split())
            self.titles += [title] if title else []
            self._title_from = -1
        self._separate()

    def _separate(self) -> None:
        if self._mixed and not self._mixed[-1]:
            self.pieces.append("\n")


def parse_xml(text: str, settings: ParseSettings) -> Page:
    """Return the text of an XML document, up to the place where it is broken."""
    lines = _Lines(settings.max_text)
    is_complete = read_xml([text.encode("utf-8", "replace")], lines, "utf-8")
    content = squeezed_lines("".join(lines.pieces))[: settings.max_text]
    if not content and not is_complete:
        raise Unreadable("its XML is broken")
    title = lines.titles[0] if lines.titles else first_line(content, settings.max_title)
    return Page(
        title=title[: settings.max_title],
        headings=tuple(one[: settings.max_title] for one in lines.titles[: settings.max_headings]),
        text=content,
        language=declared_language(lines.language),
        truncated=not is_complete or lines.room < 0,
    )
