"""Reads JSON-LD (schema.org): what a page states about itself in scripts of type application/ld+json.

Only articles and web pages are read: their dates, description, headline, image, publisher and authors. A list
of articles says nothing about the page that lists them, so if there are several articles, only the article
with the URL of the page counts. Scripts come from strangers: their number, size, depth and number of objects
are bounded, and no content of a script raises an error here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAX_SCRIPTS = 16
MAX_CHARACTERS = 1 << 18  # the most characters of one script
MAX_ITEMS = 500  # the most objects that are read
MAX_VALUE = 2000  # the most characters of one value
MAX_AUTHORS = 10

_ARTICLES = ("Article", "Posting", "APIReference", "HowTo", "Recipe", "Report")
_NESTED = ("@graph", "mainEntity", "mainEntityOfPage")
_OWN_URL = ("url", "@id", "mainEntityOfPage")
_MAX_DEPTH = 4  # the most levels of items inside @graph and mainEntity


class JsonLd(NamedTuple):
    """What the JSON-LD of a page states about the page, as it is written there."""

    published: str = ""
    modified: str = ""
    description: str = ""
    headline: str = ""
    image: str = ""
    site_name: str = ""
    authors: tuple[str, ...] = ()


def read_json_ld(scripts: Iterable[str], is_own: Callable[[str], bool]) -> JsonLd:
    """Return what the scripts of a page state; `is_own` says whether a link leads to the page itself."""
    items = items_of(documents_in(scripts))
    articles = [item for item in items if _is_of(item, _ARTICLES)]
    if len(articles) > 1:
        articles = [item for item in articles if any(is_own(url) for url in _own_urls(item))][:1]
    pages = [item for item in items if _is_of(item, ("Page",))][:1]
    names = {name: item for item in items if (name := _text(item.get("@id")))}
    found = [_stated(item, names) for item in (*articles, *pages)]
    return JsonLd(*(next(filter(None, values), values[0]) for values in zip(JsonLd(), *found, strict=True)))


def documents_in(scripts: Iterable[str]) -> list[Any]:
    """Return the JSON values of the first scripts; a script that is not JSON is left out."""
    found = []
    for number, script in enumerate(scripts):
        if number == MAX_SCRIPTS:
            break
        if len(script) <= MAX_CHARACTERS:
            found.append(_decoded(script))
    return [value for value in found if value is not None]


def _decoded(script: str) -> Any:
    try:
        return msgspec.json.decode(script)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return _decoded_with_patience(script)


def _decoded_with_patience(script: str) -> Any:
    """Decode JSON with errors that many sites make: line ends within texts, a comment around the whole."""
    import json

    script = script.strip().removeprefix("<!--").removeprefix("//<![CDATA[").removesuffix("-->")
    try:
        return json.loads(script.removesuffix("//]]>").strip().rstrip(";"), strict=False)
    except (ValueError, RecursionError):
        return None


def items_of(documents: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the objects at the top level, in @graph and in mainEntity, at most MAX_ITEMS."""
    found: list[dict[str, Any]] = []
    waiting = [(document, 0) for document in documents][::-1]
    while waiting and len(found) < MAX_ITEMS:
        value, depth = waiting.pop()
        if isinstance(value, dict):
            found.append(value)
            inner = [value[name] for name in _NESTED if name in value]
        else:
            inner = value[:MAX_ITEMS] if isinstance(value, list) else []
        if depth < _MAX_DEPTH:
            waiting += [(one, depth + 1) for one in reversed(inner)]
    return found


def values_at(documents: Iterable[Any], path: str) -> Iterator[str | int | float]:
    """Yield the texts and numbers at a path such as offers.price in any object of a page, in order."""
    names = path.split(".")
    for item in items_of(documents):
        values: list[Any] = [item]
        for name in names:
            values = [inner for value in _listed(values) if (inner := value.get(name)) is not None]
        for value in values:
            yield from (one for one in _flat(value) if isinstance(one, (str, int, float)))


def _listed(values: list[Any]) -> Iterator[dict[str, Any]]:
    for value in values:
        yield from (one for one in _flat(value) if isinstance(one, dict))


def _flat(value: Any) -> list[Any]:
    return value[:MAX_ITEMS] if isinstance(value, list) else [value]


def _is_of(item: dict[str, Any], endings: tuple[str, ...]) -> bool:
    return any(isinstance(kind, str) and kind.endswith(endings) for kind in _flat(item.get("@type")))


def _own_urls(item: dict[str, Any]) -> Iterator[str]:
    for name in _OWN_URL:
        value = item.get(name)
        yield _text(value.get("@id") if isinstance(value, dict) else value)


def _stated(item: dict[str, Any], names: dict[str, dict[str, Any]]) -> JsonLd:
    authors = (_name(author, names) for author in _flat(item.get("author"))[:MAX_AUTHORS])
    return JsonLd(
        _text(item.get("datePublished")),
        _text(item.get("dateModified")),
        _text(item.get("description")),
        _text(item.get("headline")),
        _image(item.get("image")),
        _name(_first(item.get("publisher")), names),
        tuple(filter(None, authors)),
    )


def _name(value: Any, names: dict[str, dict[str, Any]]) -> str:
    """Return the name of a person or an organisation, which may be described elsewhere under its @id."""
    if isinstance(value, dict):
        value = names.get(_text(value.get("@id")), value).get("name")
    return _text(value)


def _image(value: Any) -> str:
    value = _first(value)
    return _text((value.get("url") or value.get("contentUrl")) if isinstance(value, dict) else value)


def _first(value: Any) -> Any:
    return next(iter(value), None) if isinstance(value, list) else value


def _text(value: Any) -> str:
    value = _first(value)
    return value[:MAX_VALUE] if isinstance(value, str) else ""
