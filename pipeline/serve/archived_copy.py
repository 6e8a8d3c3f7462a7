"""The copy of a page as the crawl archived it, and whether it may be shown.

Copies are shown only of pages that searches find. So there is no copy of a page that was forgotten, that asks
not to be indexed, or that asks for no copies (`noarchive`).
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.capture_lookup import captures_of
from crawlctl.pipeline.captures.capture_record import has_answer
from crawlctl.pipeline.crawl.listings.archive_search import ArchiveSearch
from crawlctl.pipeline.crawl.listings.page_captures import PageArchive
from crawlctl.pipeline.errors import NothingMatched, UrlError
from crawlctl.pipeline.http.exchange import parse_headers
from crawlctl.pipeline.index.lookup import find_document, similar_to
from crawlctl.pipeline.text.html.directives import robots_rules
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.hosts import host_of, partition_of
from crawlctl.pipeline.webdb.part import lookup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

MAX_BODY = 4 << 20  # the most bytes of a copy that is shown; of a larger page only the text is shown

_HTML = ("text/html", "application/xhtml+xml")
_NO_COPIES = ("noarchive", "nocache", "none")
_META = re.compile(rb"<meta\b[^>]{0,2000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"""\b(name|content)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


@dataclass(frozen=True)
class ArchivedCopy:
    """An archived answer that may be shown; `time` is when it was fetched, `checked` the last visit."""

    url: str
    time: int
    checked: int
    content_type: str
    head: bytes
    body: bytes

    @property
    def is_html(self) -> bool:
        """Whether a browser can show the copy as a page."""
        return self.content_type.partition(";")[0].strip().lower() in _HTML and len(self.body) <= MAX_BODY

    @property
    def charset(self) -> str:
        """The charset that the server has declared; empty if there is none, or Python does not know it."""
        found = _CHARSET.search(self.content_type)
        try:
            return codecs.lookup(found[1]).name if found else ""
        except LookupError:
            return ""


class StoredPages:
    """The pages of a crawl in one snapshot, by URL: their documents and their copies."""

    def __init__(self, store: Store, snapshot: Snapshot, strip: Sequence[str], agent: str) -> None:
        self._store = store
        self.snapshot = snapshot
        self._strip = tuple(strip)
        self._agent = agent

    def document(self, url: str) -> DocRecord:
        """Return the document that searches find under a URL."""
        url = self._live(url)
        partition = partition_of(host_of(url), self.snapshot.partitions)
        files = [file for file in self.snapshot.files if file.partition == partition]
        found = find_document(self._store, files, url)
        if found is None:
            raise NothingMatched(f"{url} is not in the index")
        return found

    def copy(self, url: str) -> ArchivedCopy:
        """Return the newest copy of a page.

        Archives that no table of captures covers are not searched: that would read whole archives for one
        visitor.
        """
        url = self._live(url)
        captures = captures_of(self._store, self.snapshot, url)
        if not has_answer(captures):
            raise NothingMatched(f"the archive has no copy of {url}")
        archive = PageArchive(self._store, self.snapshot, self._no_search(), url)
        answer = archive.answer(captures, strip=self._strip)
        headers = parse_headers(answer.head)
        content_type = next((value for name, value in headers if name == "content-type"), "")
        copy = ArchivedCopy(
            url, answer.capture.time, answer.seen.time, content_type, answer.head, answer.body
        )
        if forbids_copies(headers, answer.body if copy.is_html else b"", self._agent):
            raise NothingMatched(f"{url} asks that no copies of it are shown")
        return copy

    def similar(self, url: str) -> Iterator[str]:
        """Yield the URLs of the other pages with nearly the same text that searches find."""
        own = self.document(url).url
        return filter(self._is_live, similar_to(self._store, self.snapshot.files, own))

    def _live(self, url: str) -> str:
        """Return the canonical form of the URL of a page that searches find."""
        try:
            found = canonical(url, self._strip)
        except UrlError as error:  # no page can have this address
            raise NothingMatched(str(error)) from error
        if not self._is_live(found):
            raise NothingMatched(f"{found} is not in the index")
        return found

    def _is_live(self, url: str) -> bool:
        entry = lookup(self._store, self.snapshot, url)
        return entry is not None and entry.live

    def _no_search(self) -> ArchiveSearch:
        return ArchiveSearch(self._store, self.snapshot, lambda _done, _all: None)


def forbids_copies(headers: Sequence[tuple[str, str]], body: bytes, agent: str) -> bool:
    """Return whether the X-Robots-Tag headers or the meta elements of a page ask for no cached copy."""
    rules = robots_rules((value for name, value in headers if name == "x-robots-tag"), agent)
    for element in _META.findall(body.replace(b"\0", b"")):  # UTF-16 without its zeros is ASCII
        found = {
            match[1].lower(): (match[2] or match[3] or match[4] or b"").decode("utf-8", "replace")
            for match in _ATTRIBUTE.finditer(element)
        }
        if found.get(b"name", "").strip().lower() in ("robots", agent.lower()):
            rules |= {rule.strip().lower() for rule in found.get(b"content", "").split(",")}
    return not rules.isdisjoint(_NO_COPIES)
