"""Reads XML as events, with limits: a handler gets the start, the text and the end of each element.

expat loads nothing from outside. A declaration of an entity is refused, because entities within entities make
a small file huge. lxml would build the tree of a whole sheet; here only the open elements are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from xml.parsers import expat

from crawlctl.pipeline.text.documents.page import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_DEPTH = 200
_MAX_ELEMENTS = 5_000_000
_SEPARATOR = " "


class Enough(Exception):
    """Raised by a handler that does not need the rest of a part."""


class Handler(Protocol):
    """Takes the events; names are local names in lower or upper case as written, without namespaces."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""

    def text(self, text: str) -> None:
        """Take a piece of text."""

    def end(self, tag: str) -> None:
        """Take the end of an element."""


class _Events:
    """Counts elements and passes on events without namespaces."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._depth = 0
        self._elements = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._depth > MAX_DEPTH or self._elements > _MAX_ELEMENTS:
            raise Unreadable("its XML has too many elements, or they are nested too deeply")
        local = {name.rpartition(_SEPARATOR)[2]: value for name, value in attributes.items()}
        self._handler.start(tag.rpartition(_SEPARATOR)[2], local)

    def end(self, tag: str) -> None:
        self._depth -= 1
        self._handler.end(tag.rpartition(_SEPARATOR)[2])

    def refuse_entity(self, *_declaration: object) -> None:
        raise Unreadable("its XML declares an entity, which attacks use")


def read_xml(chunks: Iterable[bytes], handler: Handler, encoding: str | None = None) -> bool:
    """Pass the events of a document to a handler; return False if the XML breaks off or is broken."""
    events = _Events(handler)
    parser = expat.ParserCreate(encoding, _SEPARATOR)
    parser.buffer_text = True
    parser.StartElementHandler = events.start
    parser.EndElementHandler = events.end
    parser.CharacterDataHandler = handler.text
    parser.EntityDeclHandler = events.refuse_entity
    try:
        for data in chunks:
            parser.Parse(data, False)
        parser.Parse(b"", True)
    except Enough:
        return True
    except (expat.ExpatError, LookupError, ValueError):
        return False
    return True
