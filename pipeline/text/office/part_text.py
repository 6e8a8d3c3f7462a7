"""Collects the text of the XML in Office documents: one line per paragraph, and the headings among them."""

from __future__ import annotations

import re
from typing import NamedTuple

from crawlctl.pipeline.text.office.xml_events import Enough


class PartRules(NamedTuple):
    """How to read a format: the meaning of its elements, by their local names."""

    paragraphs: frozenset[str]  # elements that become one line each
    texts: frozenset[str]  # only text directly in these elements counts; empty: all text in paragraphs
    gaps: frozenset[str]  # tabs, line breaks
    skipped: frozenset[str]  # elements that are left out with their whole content
    heading: tuple[str, str, re.Pattern[str]]  # element, attribute and value that make a paragraph a heading
    scope: str  # the element whose end ends a heading


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The names of styles depend on the language of the program that wrote the document.
_STYLE = re.compile(r"(?i)\s*(?:sub)?(?:title|titel|titre|t[ií]tulo|heading|.?berschrift|titolo|rubrik|nag)")
WORD = PartRules(
    paragraphs=_names("p"),
    texts=_names("t"),
    gaps=_names("tab br cr noBreakHyphen"),
    skipped=_names("Fallback del moveFrom"),
    heading=("pStyle", "val", _STYLE),
    scope="p",
)
SLIDES = PartRules(
    paragraphs=_names("p"),
    texts=_names("t"),
    gaps=_names("br tab"),
    skipped=_names("Fallback"),
    heading=("ph", "type", re.compile(r"(?:ctrT|t)itle\Z")),
    scope="sp",
)
OPEN_DOCUMENT = PartRules(
    paragraphs=_names("p h"),
    texts=frozenset(),
    gaps=_names("s tab line-break"),
    skipped=_names("tracked-changes annotation"),
    heading=("h", "outline-level", re.compile("")),
    scope="h",
)


class PartText:
    """A handler that collects the lines of a part, up to a number of characters."""

    def __init__(self, rules: PartRules, room: int) -> None:
        self.lines: list[str] = []
        self.headings: list[str] = []
        self.room = room
        self._rules = rules
        self._open: list[str] = []  # the pieces of the open paragraph
        self._above: list[str] = []
        self._paragraphs = 0  # how many paragraphs are open
        self._skipped = 0  # depth of the element that is skipped, 0 if none is
        self._is_heading = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        rules = self._rules
        self._above.append(tag)
        if self._skipped:
            return
        if tag in rules.skipped:
            self._skipped = len(self._above)
        elif tag in rules.paragraphs:
            self._end_line()
            self._paragraphs += 1
        elif tag in rules.gaps:
            self._open.append(" ")
        element, attribute, value = rules.heading
        if tag == element and value.match(attributes.get(attribute, "")):
            self._is_heading = True

    def text(self, text: str) -> None:
        """Take a piece of text."""
        if self._skipped or not self._paragraphs:
            return
        if not self._rules.texts or (self._above and self._above[-1] in self._rules.texts):
            self._open.append(text)
            self.room -= len(text)
            if self.room < 0:
                self._end_line()
                raise Enough

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        if self._skipped == len(self._above):
            self._skipped = 0
        elif not self._skipped:
            if tag in self._rules.paragraphs:
                self._end_line()
                self._paragraphs -= 1
            if tag == self._rules.scope:
                self._is_heading = False
        self._above.pop()

    def _end_line(self) -> None:
        line = " ".join("".join(self._open).split())
        self._open.clear()
        if line:
            self.lines.append(line)
            if self._is_heading:
                self.headings.append(line)
