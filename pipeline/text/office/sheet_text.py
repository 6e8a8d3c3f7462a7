"""Collects the text of spreadsheets (xlsx): a line per row, with the texts and numbers of its cells."""

from __future__ import annotations

from crawlctl.pipeline.text.office.xml_events import Enough


class SharedTexts:
    """A handler for the table of texts that the cells of all sheets point into."""

    def __init__(self, room: int) -> None:
        self.texts: list[str] = []
        self._room = room
        self._parts: list[str] = []
        self._tag = ""
        self._is_phonetic = False  # inside the phonetic reading of Japanese characters, which is left out

    def start(self, tag: str, _attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        self._tag = tag
        self._is_phonetic = self._is_phonetic or tag == "rPh"

    def text(self, text: str) -> None:
        """Take a piece of text."""
        if self._tag == "t" and not self._is_phonetic:
            self._parts.append(text)
            self._room -= len(text)
            if self._room < 0:
                raise Enough

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        self._tag = ""
        if tag == "rPh":
            self._is_phonetic = False
        elif tag == "si":
            self.texts.append(" ".join("".join(self._parts).split()))
            self._parts.clear()


class SheetText:
    """A handler for one sheet; `shared` are the texts that cells point to."""

    def __init__(self, shared: list[str], room: int) -> None:
        self.lines: list[str] = []
        self.room = room
        self._shared = shared
        self._row: list[str] = []
        self._kind = ""
        self._tag = ""
        self._parts: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        self._tag = tag
        if tag == "c":
            self._kind = attributes.get("t", "n")
            self._parts.clear()

    def text(self, text: str) -> None:
        """Take a piece of text."""
        if self._tag in ("v", "t"):
            self._parts.append(text)

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        self._tag = ""
        if tag == "c":
            self._take_cell(" ".join("".join(self._parts).split()))
        elif tag == "row" and self._row:
            self.lines.append(" ".join(self._row))
            self._row.clear()

    def _take_cell(self, value: str) -> None:
        if self._kind == "s":
            index = int(value) if value.isascii() and value.isdigit() and len(value) < 9 else -1
            value = self._shared[index] if 0 <= index < len(self._shared) else ""
        if value and self._kind not in ("b", "e"):  # truth values and errors are left out
            self._row.append(value)
            self.room -= len(value) + 1
            if self.room < 0:
                self.lines.append(" ".join(self._row))
                raise Enough


class SheetNames:
    """A handler for the names of the sheets, in the order of the workbook."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        if tag == "sheet":
            self.names.append(" ".join(attributes.get("name", "").split()))

    def text(self, text: str) -> None:
        """Take a piece of text, which says nothing here."""

    def end(self, tag: str) -> None:
        """Take the end of an element."""
