"""The types of documents as the index knows them, and the type of a document.

The parser knows a kind (text/documents/sniff.py). For Office documents users know more exact types, such as
docx, which only the extension in the URL tells. So an Office document has two types: `office`, and its
extension.
"""

from __future__ import annotations

import re

OFFICE = "office"
PARSED_TYPES = ("html", "pdf", "text", "xml", "epub", OFFICE)  # a document has one of these
_EXTENSIONS = ("docx", "xlsx", "pptx", "odt", "ods", "odp")
DOCUMENT_TYPES = (*PARSED_TYPES, *_EXTENSIONS)

_EXTENSION = re.compile(r"\.([a-z]{3,4})(?:[?#]|$)", re.IGNORECASE)


def types_of(kind: str, url: str) -> tuple[str, ...]:
    """Return the types of a document of a kind; none if the kind is not known."""
    if kind != OFFICE:
        return (kind,) if kind in DOCUMENT_TYPES else ()
    match = _EXTENSION.search(url)
    extension = match[1].lower() if match else ""
    return (OFFICE, extension) if extension in _EXTENSIONS else (OFFICE,)
