"""Gathers what an HTML page states about itself in meta elements, JSON-LD and `time` elements.

Each value is taken from the source that is wrong least often. For dates that is JSON-LD, then meta elements,
then a `time` element, if it is marked as the date of the page or if it is the only `time` element near the
title. The server states dates too (server_dates.py). The origin of a date is always a word that crawlctl
defines, never a text from the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.text.details.json_ld import MAX_AUTHORS, MAX_SCRIPTS, JsonLd, read_json_ld
from crawlctl.pipeline.text.details.page_dates import believable, modified_if_later, parse_date
from crawlctl.pipeline.text.documents.page import PageDate, PageDetails

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from selectolax.lexbor import LexborNode

    from crawlctl.pipeline.text.html.page_links import LinkResolver

MAX_METAS = 200  # the most meta elements per page that are read
MAX_META = 2000  # the most characters of a meta element
MAX_DESCRIPTION = 1000  # the most characters of a description
MAX_NAME = 200
MAX_TIMES = 50  # the most `time` elements per page that are read

AUTHOR = "author"  # the field of the names of the authors
JSON_LD, TIME, ITEMPROP = "json-ld", "time", "itemprop"
_LD_TYPE = "application/ld+json"

_DESCRIPTIONS = ("description", "og:description", "twitter:description", "dcterms.description")
_SITE_NAMES = ("og:site_name", "application-name")
_IMAGES = ("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src")
_TITLES = ("og:title", "twitter:title")
_LANGUAGES = ("og:locale", "language", "dc.language", "dcterms.language")
_AUTHORS = ("author", "article:author", "citation_author", "dc.creator", "dcterms.creator", "parsely-author")
# From names with one meaning to names with several.
_PUBLISHED = (
    *("article:published_time", "og:published_time", "datepublished", "dcterms.issued", "dc.date.issued"),
    *("dcterms.created", "dc.date.created", "citation_publication_date", "citation_date", "parsely-pub-date"),
    *("publish-date", "publication_date", "pubdate", "dcterms.date", "dc.date", "date"),
)
_MODIFIED = (
    *("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "dc.date.modified"),
    *("last-modified", "lastmod", "revised"),
)
# The names of meta elements that the walk keeps, in lower case.
WANTED = frozenset(
    (*_DESCRIPTIONS, *_SITE_NAMES, *_IMAGES, *_TITLES, *_LANGUAGES, *_AUTHORS, *_PUBLISHED, *_MODIFIED)
)

# Words in the class of a time element, as in microformats and in WordPress themes.
_PUBLISHED_CLASSES = frozenset(
    ("published", "dt-published", "entry-date", "post-date", "pubdate", "publish-date", "article-date")
)
_MODIFIED_CLASSES = frozenset(("updated", "dt-updated", "modified", "last-updated", "last-modified"))


class Statements:
    """The elements in which one page states something about itself, in the order of the page."""

    __slots__ = ("metas", "scripts", "times")

    def __init__(self) -> None:
        self.metas: list[tuple[str, str]] = []  # name and content
        self.scripts: list[str] = []  # JSON-LD
        self.times: list[tuple[Mapping[str, str | None], int]] = []  # attributes, headings before it

    def meta(self, name: str | None, item: str | None, content: str) -> None:
        """Keep a meta element if its name, property or itemprop is in WANTED."""
        known = (name or item or "").strip().lower()
        if known in WANTED and len(self.metas) < MAX_METAS:
            self.metas.append((known if name else f"{ITEMPROP}:{known}", content[:MAX_META]))

    def script(self, node: LexborNode) -> None:
        """Keep the text of a script element if it is JSON-LD."""
        kind = node.attributes.get("type")
        if kind and len(self.scripts) < MAX_SCRIPTS and kind.strip().lower() == _LD_TYPE:
            self.scripts.append(node.text() or "")

    def time(self, attributes: Mapping[str, str | None], headings: int) -> None:
        """Keep a time element with a date, and how many headings the page had before it."""
        if len(self.times) <= MAX_TIMES and attributes.get("datetime"):
            self.times.append((attributes, headings))


class Stated(NamedTuple):
    """What a page states about itself, and values to use if the usual elements are missing."""

    details: PageDetails
    title: str = ""
    locale: str = ""


class _Source(NamedTuple):
    """The inputs for reading the dates of a page: its meta elements, its fetch time, and its JSON-LD."""

    metas: Mapping[str, str]
    fetched_at: int
    stated: JsonLd


def stated_in(statements: Statements, resolver: LinkResolver, fetched_at: int) -> Stated:
    """Return what a page states about itself."""
    if not (statements.metas or statements.scripts or statements.times):
        return _NOTHING_STATED
    known = dict(_agreed(statements.metas))
    stated = read_json_ld(statements.scripts, lambda link: bool(link) and resolver.is_own(link))
    source = _Source(known, fetched_at, stated)
    published = _stated_date(source, stated.published, _PUBLISHED)
    modified = _stated_date(source, stated.modified, _MODIFIED)
    if (published is None or modified is None) and statements.times:
        by_time = _by_times(statements.times, fetched_at)
        published, modified = published or by_time[0], modified or by_time[1]
    details = PageDetails(
        description=cleaned(_first(known, _DESCRIPTIONS) or stated.description, MAX_DESCRIPTION),
        site_name=cleaned(_first(known, _SITE_NAMES) or stated.site_name, MAX_NAME),
        image=_image(_first(known, _IMAGES) or stated.image, resolver),
        published=published,
        modified=modified_if_later(published, modified),
        fields=author_fields(stated.authors)
        or author_fields(content for name, content in statements.metas if name in _AUTHORS),
    )
    title = cleaned(stated.headline or _first(known, _TITLES), MAX_NAME)
    return Stated(details, title, _first(known, _LANGUAGES))


_NOTHING_STATED = Stated(PageDetails())


def cleaned(text: str, limit: int) -> str:
    """Return a text on one line, cut at `limit` characters, without unpaired surrogates."""
    text = " ".join(text[: 4 * limit].split())[:limit].rstrip()
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _agreed(metas: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the first value of each name; properties of items (microdata) count only if all values agree."""
    found: dict[str, str] = {}
    differing = set()
    for name, content in metas:
        if found.setdefault(name, content) != content and name.startswith(ITEMPROP):
            differing.add(name)
    for name, content in found.items():
        if name not in differing:
            yield name.removeprefix(f"{ITEMPROP}:"), content


def _first(known: Mapping[str, str], names: Iterable[str]) -> str:
    return next((known[name] for name in names if known.get(name)), "")


def _stated_date(source: _Source, in_json_ld: str, names: Iterable[str]) -> PageDate | None:
    if in_json_ld and (date := believable(in_json_ld, JSON_LD, source.fetched_at)):
        return date
    for name in names:
        content = source.metas.get(name)
        if content and (date := believable(content, name, source.fetched_at)):
            return date
    return None


def author_fields(written: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the names of authors as fields, each name once; links are no names."""
    names = (cleaned(name, MAX_NAME) for name in written)
    by_name = {name.casefold(): name for name in names if name and "://" not in name}
    return tuple((AUTHOR, name) for name in list(by_name.values())[:MAX_AUTHORS])


def _image(link: str, resolver: LinkResolver) -> str:
    link = link.strip()
    return resolver.url_of(link) if link else ""


def _by_times(
    times: Sequence[tuple[Mapping[str, str | None], int]], fetched_at: int
) -> tuple[PageDate | None, PageDate | None]:
    """Return the dates of publication and of change that `time` elements state, if they are unambiguous."""
    if len(times) > MAX_TIMES:
        return None, None
    marked: dict[bool | None, set[str]] = {None: set(), False: set(), True: set()}
    near_title: set[str] = set()
    for attributes, headings in times:
        moment = (attributes.get("datetime") or "").strip()
        if parse_date(moment) is not None:
            marked[_meaning(attributes)].add(moment)
            near_title |= {moment} if headings <= 1 else set()
    published, modified = marked[False], marked[True]
    if not published and not modified and near_title == marked[None]:
        published = near_title
    return _only(published, fetched_at), _only(modified, fetched_at)


def _meaning(attributes: Mapping[str, str | None]) -> bool | None:
    """Return whether a `time` element is of a change (True), of the publication (False), or of neither."""
    words = {*(attributes.get("itemprop") or "").lower().split()}
    classes = {*(attributes.get("class") or "").lower().split()}
    is_published = "datepublished" in words or "pubdate" in attributes
    is_modified = "datemodified" in words
    if is_published == is_modified:
        is_published, is_modified = bool(classes & _PUBLISHED_CLASSES), bool(classes & _MODIFIED_CLASSES)
    return None if is_published == is_modified else is_modified


def _only(moments: set[str], fetched_at: int) -> PageDate | None:
    return believable(next(iter(moments)), TIME, fetched_at) if len(moments) == 1 else None
