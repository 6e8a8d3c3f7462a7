"""The filters of a query, of the form `name:value`: by host, language, date, type or value of a field.

Each filter has a method `read`: it turns the text behind the colon into a node, or raises a ValueError that
says which values the filter takes. The table FILTERS maps the name of a filter to its class.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Protocol

from crawlctl.pipeline.index.document_types import DOCUMENT_TYPES
from crawlctl.pipeline.search.query.node import BaseLeaf
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

_HOST = r"[a-z0-9._-]+(:[0-9]+)?|\[[0-9a-f:.]+\](:[0-9]+)?"
_NATIONAL_HOST = r"[\w.-]+(:[0-9]+)?"
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_DAY = r"([12][0-9]{3})(?:[-/.]([0-9]{1,2})(?:[-/.]([0-9]{1,2}))?)?"
_LANGUAGE = r"([a-z]{2,3})(?:[-_][a-z0-9-_]+)?"
_FIELD_NAME = r"\w[\w.-]*"
_TYPE_NAMES = {"htm": "html", "xhtml": "html", "txt": "text", "plain": "text", "md": "text"}


class Site(BaseLeaf, frozen=True):
    """Pages of a host, in lower case and perhaps with a port, and of its subdomains.

    With a `path`, only pages whose URL has the words of the path directly behind the words of the host.
    """

    field: ClassVar[str] = "url"  # the field in which the words of the path are searched
    host: str
    path: str = ""

    def infix(self) -> str:
        """Return the host and the path as the filter takes them."""
        value = f"{self.host}/{self.path}" if self.path else self.host
        return f"site:{value}" if _is_bare(value) else f'site:"{value}"'

    @classmethod
    def read(cls, text: str) -> Site:
        """Return the node of a host, which may have a scheme, a path, a port or `*.` before it."""
        scheme, _, rest = text.strip().rpartition("://")
        host, _, path = re.sub(r"[?#].*", "", rest).partition("/")
        host = _in_ascii(host.lower().removeprefix("*").strip("."))
        host = host.removesuffix(_DEFAULT_PORTS.get(scheme.lower(), "/"))
        if not re.fullmatch(_HOST, host) or not tokens(host):
            raise ValueError("site: takes a host, as site:docs.python.org, or a host and a path")
        path = _unescaped(path.strip("/* "))
        return cls(host, path if tokens(path) else "")


class Language(BaseLeaf, frozen=True):
    """Pages in a language, by its code of two letters."""

    code: str

    def infix(self) -> str:
        """Return the code as the filter takes it."""
        return f"lang:{self.code}"

    @classmethod
    def read(cls, text: str) -> Language:
        """Return the node of a code; the country in `de-AT` is left out."""
        match = re.fullmatch(_LANGUAGE, text.strip().lower())
        if match is None:
            raise ValueError("lang: takes the code of a language, as lang:de")
        return cls(match[1])


class DateFilter(BaseLeaf, frozen=True):
    """Pages by their date; `day` is a day, month or year as ISO 8601 has it."""

    name: ClassVar[str]
    day: str

    def infix(self) -> str:
        """Return the day as the filter takes it."""
        return f"{self.name}:{self.day}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the node of a day."""
        try:
            return cls(day_of(text))
        except ValueError:
            example = f"{cls.name}:2024-05-01"
            raise ValueError(f"{cls.name}: takes a year, a month or a day, as {example}") from None


class Before(DateFilter, frozen=True):
    """Pages with a date before the first second of a day, month or year."""

    name = "before"


class After(DateFilter, frozen=True):
    """Pages with a date in the first second of a day, month or year, or later."""

    name = "after"


class DocumentType(BaseLeaf, frozen=True):
    """Pages fetched as documents of a type, such as pdf."""

    name: str

    def infix(self) -> str:
        """Return the type as the filter takes it."""
        return f"type:{self.name}"

    @classmethod
    def read(cls, text: str) -> DocumentType:
        """Return the node of a type, which may be written as the extension of a file."""
        name = text.strip().lower().removeprefix(".")
        name = _TYPE_NAMES.get(name, name)
        if name not in DOCUMENT_TYPES:
            raise ValueError(f"type: takes one of {', '.join(DOCUMENT_TYPES)}")
        return cls(name)


class FieldValue(BaseLeaf, frozen=True):
    """Pages with a value in a field: an author, or a value found by the rules for their site."""

    name: str
    value: str

    def infix(self) -> str:
        """Return the field and the value as the filter takes them."""
        return f"in:{self.name}={self.value}" if _is_bare(self.value) else f'in:"{self.name}={self.value}"'

    @classmethod
    def read(cls, text: str) -> FieldValue:
        """Return the node of a field and a value with an equals sign between them."""
        name, _, value = (" ".join(part.split()) for part in text.partition("="))
        if not re.fullmatch(_FIELD_NAME, name) or not value:
            raise ValueError('in: takes a field and a value, as in:author=knuth or in:author="donald knuth"')
        return cls(name, value)


class Filter(Protocol):
    """The interface of a filter class that the grammar uses."""

    @classmethod
    def read(cls, text: str) -> AnyFilter:
        """Return the node for the text behind the colon, or raise a ValueError."""


AnyFilter = Site | Language | Before | After | DocumentType | FieldValue

FILTERS: Mapping[str, type[Filter]] = {
    "site": Site,
    "lang": Language,
    "before": Before,
    "after": After,
    "type": DocumentType,
    "in": FieldValue,
}


def first_second(day: str) -> int:
    """Return the UTC seconds at which a day, month or year begins."""
    from datetime import UTC, datetime

    year, month, number = (*map(int, day.split("-")), 1, 1)[:3]
    return int(datetime(year, month, number, tzinfo=UTC).timestamp())


def day_of(text: str) -> str:
    """Return a year, month or day as ISO 8601 has it, or raise a ValueError."""
    match = re.fullmatch(_DAY, text.strip())
    if match is None:
        raise ValueError(f"{text} is no day")
    day = "-".join(f"{int(part):02}" for part in match.groups() if part)
    first_second(day)  # raises an error for a day such as the 31st of February
    return day


def _unescaped(path: str) -> str:
    if "%" not in path:
        return path
    from urllib.parse import unquote

    return unquote(path)


def _is_bare(value: str) -> bool:
    return not re.search(r'[\s()"“”„]', value)


def _in_ascii(host: str) -> str:
    """Return a host in Punycode, as the URLs of the index have it; a host that is not valid is unchanged."""
    if host.isascii() or not re.fullmatch(_NATIONAL_HOST, host):
        return host
    from crawlctl.pipeline.errors import UrlError
    from crawlctl.pipeline.urls.canonical import canonical
    from crawlctl.pipeline.urls.hosts import host_of

    try:
        return host_of(canonical(f"http://{host}/"))
    except UrlError:
        return host
