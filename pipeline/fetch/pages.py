"""From a parsed page to what a run keeps of it: its outcome, its document, and the URLs it leads to.

A page is asked first whether it wants to be somewhere else (meta refresh), then whether it wants to be left
out (noindex), then whether another page stands for it (canonical, or one that said the same before).
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.fetch.discovery import LINK_SHARE, Origin
from crawlctl.pipeline.index.documents import Document
from crawlctl.pipeline.net.hosts import registrable_domain, webdb_key
from crawlctl.pipeline.net.urls import host_of
from crawlctl.pipeline.text.document import Outcome as Parsing
from crawlctl.pipeline.webdb.records import Kind, Outcome, Status, decode_entry

if TYPE_CHECKING:
    from crawlctl.pipeline.fetch.discovery import Discovery
    from crawlctl.pipeline.fetch.part import PartRows
    from crawlctl.pipeline.fetch.sites import SiteBudgets
    from crawlctl.pipeline.fetch.twins import Twins
    from crawlctl.pipeline.net.answer import Answer
    from crawlctl.pipeline.text.document import Parsed
    from crawlctl.pipeline.text.page import Page
    from crawlctl.pipeline.webdb.records import Fresh, WebEntry

MAX_REFRESH_SECONDS = 10  # a page that shows itself for longer is one to be read


class Visit(NamedTuple):
    """A URL that was fetched: its key, what was known of it, and the answer."""

    key: bytes
    url: str
    entry: WebEntry
    answer: Answer


class PageReader:
    """Judges the pages of a task in the order in which they come."""

    def __init__(self, discovery: Discovery, sites: SiteBudgets, twins: Twins, rows: PartRows) -> None:
        self._discovery = discovery
        self._sites = sites
        self._twins = twins
        self._rows = rows

    def read(
        self, visit: Visit, parsed: Parsed, fresh: dict[bytes, Fresh]
    ) -> tuple[Outcome, Document | None]:
        """Return what became of a page and the document to index, and gather the URLs it leads to."""
        page = parsed.page
        if parsed.outcome is not Parsing.PARSED and not parsed.salvaged:
            reason = f"{parsed.outcome.value}: {parsed.note or visit.answer.content_type or 'no type'}"
            return self._outcome(visit, Kind.EXCLUDED, reason=reason), None
        if page.refresh and page.refresh != visit.url and page.refresh_seconds <= MAX_REFRESH_SECONDS:
            kind = Kind.FOUND if page.refresh_seconds else Kind.MOVED
            self.redirected(visit, page.refresh, fresh)
            return self._outcome(visit, kind, parsed, target=page.refresh, reason="meta refresh"), None
        self._follow(visit, page, fresh)
        if page.directives.noindex:
            return self._outcome(visit, Kind.NOINDEX, parsed, reason="noindex"), None
        if canonical := self._stand_in(visit, parsed, fresh):
            return self._outcome(visit, Kind.DUPLICATE, parsed, canonical=canonical), None
        return self._content(visit, parsed)

    def redirected(self, visit: Visit, target: str, fresh: dict[bytes, Fresh]) -> None:
        """Take up the target of a redirect, at the depth and with the score of the URL that led there."""
        entry = visit.entry
        origin = Origin(visit.url, int(visit.answer.started), entry.depth, entry.score)
        self._discovery.listed(origin, (target,), fresh)

    def _content(self, visit: Visit, parsed: Parsed) -> tuple[Outcome, Document | None]:
        twin = self._twins.find(visit.url, parsed.signature, parsed.sketch)
        if twin is not None and twin.exact:
            return self._outcome(visit, Kind.DUPLICATE, parsed, canonical=twin.url), None
        if twin is None and not visit.entry.live:
            self._sites.useful(visit.url)
        outcome = self._outcome(
            visit, Kind.FETCHED, parsed, reason=parsed.outcome.value if parsed.salvaged else ""
        )
        return outcome, _document(visit, parsed, twin.url if twin else "")

    def _follow(self, visit: Visit, page: Page, fresh: dict[bytes, Fresh]) -> None:
        if page.directives.nofollow:
            return
        entry = visit.entry
        origin = Origin(visit.url, int(visit.answer.started), entry.depth + 1, entry.score * LINK_SHARE)
        links = [(link.url, link.text) for link in page.links if not (link.rel and link.nofollow)]
        self._discovery.links(origin, links, fresh)

    def _stand_in(self, visit: Visit, parsed: Parsed, fresh: dict[bytes, Fresh]) -> str:
        """Return the URL that stands for the page by its own word or by that of an earlier round, or ""."""
        canonical = parsed.page.canonical
        if canonical and canonical != visit.url and self._is_believable(visit.url, canonical):
            self.redirected(visit, canonical, fresh)
            return canonical
        entry = visit.entry
        if entry.status is Status.DUPLICATE and parsed.signature == entry.signature and entry.canonical:
            # Whichever of two equal pages is fetched first today, the roles stay as they were.
            packed = self._rows.get(webdb_key(entry.canonical))
            leader = packed and decode_entry(packed, self._rows.name)
            if leader and leader.live and leader.signature == entry.signature:
                return entry.canonical
        return ""

    def _is_believable(self, url: str, canonical: str) -> bool:
        """Whether a page may name another in its place: it must be one we fetch, of the same owner."""
        same_owner = registrable_domain(host_of(url)) == registrable_domain(host_of(canonical))
        return same_owner and self._discovery.in_scope(canonical)

    def _outcome(
        self,
        visit: Visit,
        kind: Kind,
        parsed: Parsed | None = None,
        *,
        target: str = "",
        canonical: str = "",
        reason: str = "",
    ) -> Outcome:
        answer = visit.answer
        return Outcome(
            kind,
            int(answer.started),
            code=answer.status,
            signature=parsed.signature if parsed else b"",
            etag=answer.header("etag") or "",
            last_modified=answer.header("last-modified") or "",
            target=target,
            canonical=canonical,
            reason=reason,
            depth=visit.entry.depth,
        )


def _document(visit: Visit, parsed: Parsed, duplicate_of: str) -> Document:
    page = parsed.page
    nobody = page.directives.nofollow
    return Document(
        url=visit.url,
        title=page.title,
        headings=page.headings,
        text=page.text,
        language=parsed.language,
        links=tuple(
            [(link.url, link.text, nobody or bool(link.rel and link.nofollow)) for link in page.links]
        ),
        fetched_at=int(visit.answer.started),
        last_modified=_http_date(visit.answer.header("last-modified")),
        signature=parsed.signature,
        similarity=parsed.sketch,
        canonical=page.canonical,
        duplicate_of=duplicate_of,
    )


def _http_date(value: str | None) -> int:
    try:
        return max(0, int(parsedate_to_datetime(value).timestamp())) if value else 0
    except (ValueError, OverflowError, TypeError):
        return 0
