"""Turns the links of a page, as written, into canonical URLs without repetitions."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.text.documents.page import Link
from crawlctl.pipeline.urls.canonical import canonical_link
from crawlctl.pipeline.urls.whatwg import MAX_URL_BYTES, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NOT_FETCHED = ("#", "javascript:", "mailto:", "tel:", "data:", "JavaScript:", "about:", "blob:")
# Links that mean the same URL on every page of a folder. Links such as "", "?b", "#c" and "http:?d" do not.
_SAME_IN_FOLDER = re.compile(r"/|https?://|[A-Za-z0-9._~-]+(?:[/?#]|$)")

# Links that are in canonical form: names without escapes and dot segments, behind a host, a slash or nothing.
_NAME = "[A-Za-z0-9_~-][A-Za-z0-9._~-]*"
_PLAIN = re.compile(f"(?:(https?://[A-Za-z0-9.-]+)?/)?{_NAME}(?:/{_NAME})*/?")

_REMEMBERED_ORIGINS = 1024
_REMEMBERED_BYTES = 1 << 23  # of links and their URLs: about 30,000 links
_BYTES_PER_LINK = 200  # besides its characters: two strings, and their place in a dict


class WrittenLink(msgspec.Struct, frozen=True, gc=False):
    """A link as it is written in a page."""

    href: str
    text: str = ""
    rel: str = ""


class LinkResolver:
    """Resolves the links of one page; it shares a cache with the other pages of the same folder."""

    def __init__(self, url: str, base: str = "", strip: tuple[str, ...] = ()) -> None:
        self._url = url
        self._base = _base(url, base)
        self._strip = strip
        self._folder = _FOLDERS.folder(_folder_of(self._base), strip)
        self._known = self._folder.links

    def url_of(self, href: str) -> str:
        """Return the canonical URL of a link, or "" if it cannot be fetched."""
        if "#" in href:
            # Most links of a manual lead to sections of a few pages, so links are cached without fragment. A
            # space before the # is part of the path, but a space at the end of a link is not.
            link, _, _ = href.partition("#")
            href = link if link[-1:] > " " else href
        known = self._known.get(href)
        if known is not None:
            return known
        if href.startswith(_NOT_FETCHED):
            return ""
        if not _SAME_IN_FOLDER.match(href):
            return _resolve(self._base, href, self._strip)
        url = self._known[href] = self._plain_url(href) or _resolve(self._folder.url, href, self._strip)
        _FOLDERS.charge(href, url)
        return url

    def _plain_url(self, href: str) -> str:
        """Return the URL of a link if it can be found without a URL parser, as for most links, else ""."""
        match = _PLAIN.fullmatch(href)
        if match is None:
            return ""
        start, origin = self._folder.canonical, match[1]
        if origin:
            start, href = _canonical_origin(origin), href[len(origin) :]
        elif href[0] == "/":
            start = _origin(start)
        url = start + href
        return url if start and len(url) <= MAX_URL_BYTES else ""

    def is_own(self, href: str) -> bool:
        """Return whether a link leads to the page itself."""
        return self.url_of(href) == self._url

    def links(
        self, written: Iterable[WrittenLink], limit: int, boilerplate: Iterable[bool] = repeat(False)
    ) -> tuple[Link, ...]:
        """Return the first `limit` different URLs, each with the first text that is not empty.

        `boilerplate` says for each link whether it is in boilerplate. Links in the content count more: if a
        URL has such a link, it gets its text and does not count as boilerplate.
        """
        found: dict[str, Link] = {}
        known = self._known.get
        for link, is_boilerplate in zip(written, boilerplate, strict=False):
            url = known(link.href)
            if url is None:
                url = self.url_of(link.href)
            if not url or url == self._url:
                continue
            before = found.get(url)
            if before is not None:
                found[url] = _merged(before, link, is_boilerplate)
            elif len(found) < limit:
                found[url] = Link(url, link.text, link.rel, is_boilerplate)
            else:
                break
        return tuple(found.values())

    def only(self, hrefs: Sequence[str]) -> str:
        """Return the one URL that all these links lead to, or "" if they differ."""
        urls = {self.url_of(href) for href in hrefs} - {""}
        return urls.pop() if len(urls) == 1 else ""


def _merged(before: Link, link: WrittenLink, is_boilerplate: bool) -> Link:
    is_better = before.boilerplate and not is_boilerplate
    if before.text and (not before.rel or before.rel == link.rel) and not is_better:
        return before
    others = link.rel.split()
    common = " ".join(token for token in before.rel.split() if token in others)
    text = (link.text or before.text) if is_better else (before.text or link.text)
    return Link(before.url, text, common, before.boilerplate and is_boilerplate)


def _base(url: str, href: str) -> str:
    """Return the URL that relative links start from: the base element's URL if it is valid, else `url`."""
    if not href.strip():
        return url
    try:
        return join(url, href).partition("#")[0]
    except UrlError:
        return url


def _origin(url: str) -> str:
    return url[: url.index("/", len("https://"))] if url else ""


@lru_cache(maxsize=_REMEMBERED_ORIGINS)
def _canonical_origin(origin: str) -> str:
    """Return the canonical form of a scheme and a host, "" if it is not valid."""
    return _origin(_resolve(f"{origin}/", "", ()))


def _folder_of(base: str) -> str:
    path = base.partition("?")[0]
    return path[: path.rindex("/") + 1]


def _resolve(base: str, href: str, strip: tuple[str, ...]) -> str:
    try:
        return canonical_link(base, href, strip)
    except UrlError:
        return ""


class _Folder(NamedTuple):
    """A folder of a host: its URL, the canonical form of it, and the links found on its pages so far."""

    url: str
    canonical: str
    links: dict[str, str]  # each link as it is written, without fragment, and its URL


class _Folders:
    """The folders of the pages that were parsed so far, for the life of the process.

    Pages of one folder have many links in common, such as menus. One limit holds for the links of all
    folders, and all are forgotten when it is reached: with a limit per folder, a few long indexes would push
    out the menus again and again.
    """

    def __init__(self) -> None:
        self._room = _REMEMBERED_BYTES  # how many more bytes may be kept
        self._folders: dict[tuple[str, tuple[str, ...]], _Folder] = {}

    def folder(self, url: str, strip: tuple[str, ...]) -> _Folder:
        """Return a folder, by its URL and the parameters that are removed from its links."""
        if self._room < 0:
            self._folders.clear()
            self._room = _REMEMBERED_BYTES
        found = self._folders.get((url, strip))
        if found is None:
            found = self._folders[url, strip] = _Folder(url, _resolve(url, "", ()), {})
            self.charge(url, found.canonical)
        return found

    def charge(self, link: str, url: str) -> None:
        """Count a link that is kept. The limit is asked at the next page: a page has a limit of its own."""
        self._room -= len(link) + len(url) + _BYTES_PER_LINK


_FOLDERS = _Folders()
