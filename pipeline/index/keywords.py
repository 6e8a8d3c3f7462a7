"""Keywords: values of a document that are indexed whole, each as a term of its own (Lucene: keyword fields).

They are the type of the document, its fields (authors, and values found by the rules for its site), and the
names it defines. The term of a keyword begins with a byte that no word of a text has, so that no query for
words finds it, and it comes before all words in the order of terms. Its one position is the first of the
body; this position is never used.

    \\x01 type \\x01 pdf
    \\x01 name \\x01 KEY             the key of a name that the page defines (text/words/names.py)
    \\x01 in \\x01 NAME \\x01 VALUE      name and value in lower case, \\x02 for each run of blanks

No term may have a space: runs keep terms with spaces between them (runs/posting_slices.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.index.document_types import types_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.index.segment.stored_documents import Document

_MARK = "\x01"
_BLANK = "\x02"
_NO_MARKS = str.maketrans({_MARK: " ", _BLANK: " "})
_TYPE = "type"
_FIELD = "in"
_NAME = "name"
_MAX_CHARACTERS = 200  # the most characters of a value, as in field_values.py


def type_keyword(name: str) -> bytes:
    """Return the term of a type of documents."""
    return _term(_TYPE, name)


def field_keyword(name: str, value: str | int | float) -> bytes:
    """Return the term of a value of a field."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return _term(_FIELD, name, str(value))


def name_keyword(key: str) -> bytes:
    """Return the term of a name that a page defines, by its key."""
    if key.isascii() and key.isalnum() and key.islower():  # as nearly all keys: nothing to change
        return f"{_MARK}{_NAME}{_MARK}{key[:_MAX_CHARACTERS]}".encode("ascii")
    return _term(_NAME, key)


def all_types() -> bytes:
    """Return the beginning of the terms of all types."""
    return _term(_TYPE, "")


def all_fields() -> bytes:
    """Return the beginning of the terms of all fields."""
    return _term(_FIELD, "")


def split_keyword(term: bytes) -> list[str]:
    """Return the parts of the term of a keyword: `type` and a type, or `in`, a name and a value."""
    return term.decode(errors="replace").replace(_BLANK, " ").split(_MARK)[1:]


def keywords_of(document: Document) -> Iterator[bytes]:
    """Yield the terms of the keywords of a document, each once."""
    # imported here, because queries do not need its patterns
    from crawlctl.pipeline.text.words.names import page_keys

    details = document.details
    found = [type_keyword(name) for name in types_of(details.kind, document.url)]
    found += [field_keyword(name, value) for name, value in details.fields]
    found += [name_keyword(key) for key in page_keys(document.title, document.url, details.sections)]
    yield from dict.fromkeys(found)


def _term(*parts: str) -> bytes:
    texts = (_BLANK.join(part.casefold().translate(_NO_MARKS).split())[:_MAX_CHARACTERS] for part in parts)
    return "".join(_MARK + text for text in texts).encode("utf-8", "replace")
