"""The properties of a document: title, language, description, authors and dates, in Dublin Core terms.

Office documents have them in docProps/core.xml, OpenDocument in meta.xml, EPUB in its package file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.text.details.json_ld import MAX_AUTHORS
from crawlctl.pipeline.text.details.metadata import author_fields
from crawlctl.pipeline.text.details.page_dates import believable
from crawlctl.pipeline.text.documents.page import PageDetails

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import ParseSettings

ORIGIN = "document"

_CREATED = ("created", "creation-date")
_MODIFIED = "modified"
# OpenDocument names the first author and the last person who saved; the latter counts if there is no author.
_CREATOR, _FIRST_CREATOR = "creator", "initial-creator"
_KEPT = frozenset(
    {"title", "language", "description", "date", _MODIFIED, _CREATOR, _FIRST_CREATOR, *_CREATED}
)
_MAX_CHARACTERS = 10_000  # the most characters of one property


class Properties:
    """A handler that keeps the first text of each property, and all creators.

    `date` is the last change in OpenDocument, and the day of publication in EPUB.
    """

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.creators: list[str] = []
        self._name = ""
        self._text: list[str] = []
        self._room = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        if tag == "meta" and attributes.get("property") == "dcterms:modified":
            tag = _MODIFIED
        if tag in _KEPT:
            self._name, self._text, self._room = tag, [], _MAX_CHARACTERS

    def text(self, text: str) -> None:
        """Take a piece of text."""
        if self._name and self._room > 0:
            self._text.append(text[: self._room])
            self._room -= len(text)

    def end(self, _tag: str) -> None:
        """Take the end of an element."""
        if self._name:
            value = " ".join("".join(self._text).split())
            if value:
                self.values.setdefault(self._name, value)
                if self._name == _CREATOR and len(self.creators) < MAX_AUTHORS:
                    self.creators.append(value)
            self._name = ""

    def title(self, settings: ParseSettings) -> str:
        """Return the title, "" if there is none."""
        return self.values.get("title", "")[: settings.max_title]

    def details(self, *, date_is: str, fetched_at: int = 0) -> PageDetails:
        """Return description, authors and dates; `date_is` says what `date` means: "published" or "modified".

        Dates that cannot be true are left out; the document was fetched at `fetched_at` (0: now).
        """
        dates = {"published": "", "modified": self.values.get(_MODIFIED, "")}
        dates["published"] = next((self.values[name] for name in _CREATED if name in self.values), "")
        dates[date_is] = dates[date_is] or self.values.get("date", "")
        return PageDetails(
            description=self.values.get("description", ""),
            published=believable(dates["published"], ORIGIN, fetched_at),
            modified=believable(dates["modified"], ORIGIN, fetched_at),
            fields=author_fields(self._authors()),
        )

    def _authors(self) -> list[str]:
        """Return who wrote the document. Word and Excel put several names into one creator: "A; B"."""
        first = self.values.get(_FIRST_CREATOR)
        written = [first] if first else self.creators
        return [name for names in written for name in names.split(";")]
