"""Turns a parsed page into its outcome, the document to index, and the URLs it links to.

The page may redirect (meta refresh), ask not to be indexed (noindex), or name another page as canonical.
These are checked in this order. A page that names another page, or has the same text as another page, is
indexed too. The WebDB merge decides later which of the two pages stays in the index, because only the merge
knows the outcome of both (webdb/merge/review.py).

Redirects, whether by status or by meta refresh, are followed one per round. So a counter must end endless
chains: the entry of a URL has the number of redirects in a row that led to it, and after fetch.max_redirects
the next redirect is not followed. The first redirect of a chain adds 0 to the depth; otherwise a site that
moved to https would lose its deepest level. Each later redirect adds 1, like a link. The same rule holds for
canonical URLs.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from crawlctl.pipeline.fetch.pages.discovered import Origin
from crawlctl.pipeline.fetch.pages.discovery import LINK_SHARE, share_of
from crawlctl.pipeline.fetch.pages.sitemap_dates import believable_dates, latest_dates
from crawlctl.pipeline.formats.web_dates import parse_mail_date
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.index.static_quality import share_for_links
from crawlctl.pipeline.terminal.printable import escaped
from crawlctl.pipeline.text.details.server_dates import ServerDates, with_server_dates
from crawlctl.pipeline.text.documents.document import Parsed, ParseOutcome
from crawlctl.pipeline.text.documents.page import Link, Page
from crawlctl.pipeline.text.likeness.fingerprint import SIGNATURE_BYTES
from crawlctl.pipeline.urls.domains import registrable_domain
from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.pipeline.webdb.records import Kind, Outcome

if TYPE_CHECKING:
    from crawlctl.pipeline.captures.capture_record import CaptureRecord
    from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls
    from crawlctl.pipeline.fetch.pages.discovery import Discovery
    from crawlctl.pipeline.fetch.pages.lookalikes import Lookalikes
    from crawlctl.pipeline.fetch.select.site_budgets import SiteBudgets
    from crawlctl.pipeline.http.exchange import Answer
    from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapContent
    from crawlctl.pipeline.text.words.explicit import ExplicitLists
    from crawlctl.pipeline.webdb.records import WebEntry

CUT = "only the beginning is indexed: the page is longer than fetch.max_body or the limits in parse.* allow"
FEED = "its entries are discovered, it is not indexed itself"
MAX_REFRESH_SECONDS = 10  # a page that redirects later is meant to be read, so it is indexed


class Visit(NamedTuple):
    """A URL that was fetched: its WebDB key, its WebDB entry before the fetch, and the answer."""

    key: bytes
    url: str
    entry: WebEntry
    answer: Answer
    capture: CaptureRecord | None = None  # the place of an imported answer in its archive


class PageReader:
    """Judges the parsed pages of a task, in the order in which they arrive."""

    def __init__(
        self,
        discovery: Discovery,
        sites: SiteBudgets,
        lookalikes: Lookalikes,
        *,
        max_redirects: int,
        explicit: ExplicitLists,
    ) -> None:
        self._discovery = discovery
        self._sites = sites
        self._lookalikes = lookalikes
        self._max_redirects = max_redirects
        self._explicit = explicit

    def read(self, visit: Visit, parsed: Parsed, fresh: DiscoveredUrls) -> tuple[Outcome, Document | None]:
        """Return the outcome of a page and the document to index; add its links to `fresh`."""
        page = parsed.page
        if parsed.outcome is not ParseOutcome.PARSED and not parsed.salvaged:
            reason = f"{parsed.outcome.value}: {parsed.note or visit.answer.content_type or 'no type'}"
            return self._outcome(visit, Kind.EXCLUDED, reason=reason), None
        if page.refresh and page.refresh != visit.url and page.refresh_seconds <= MAX_REFRESH_SECONDS:
            kind = Kind.FOUND if page.refresh_seconds else Kind.MOVED
            outcome = self._outcome(visit, kind, parsed, target=page.refresh, reason="meta refresh")
            return self.redirected(visit, outcome, fresh), None
        named = page.canonical if self._is_believable(visit.url, page.canonical) else ""
        is_new_text = not named and self._is_new_text(visit, parsed)
        taken = self._follow(visit, parsed, fresh, is_new_text=is_new_text)
        outcome, document = self._judge(visit, parsed, fresh, named, is_new_text=is_new_text)
        return replace(outcome, links_taken=taken) if taken else outcome, document

    def _judge(
        self, visit: Visit, parsed: Parsed, fresh: DiscoveredUrls, named: str, *, is_new_text: bool
    ) -> tuple[Outcome, Document | None]:
        page = parsed.page
        if page.directives.noindex:
            return self._outcome(visit, Kind.NOINDEX, parsed, reason="noindex"), None
        if named:
            self._take_up(visit, named, fresh)
        elif is_new_text and not visit.entry.live:
            self._sites.useful(visit.url)
        is_cut = page.truncated or visit.answer.truncated is not None
        reason = parsed.outcome.value if parsed.salvaged else CUT if is_cut else ""
        outcome = self._outcome(visit, Kind.FETCHED, parsed, named=named, reason=reason)
        return outcome, _document(visit, parsed, self._explicit)

    def feed(self, visit: Visit, content: SitemapContent, fresh: DiscoveredUrls, max_links: int) -> Outcome:
        """Return the outcome of a feed that was fetched as a page; a feed is not indexed as a document.

        At most `max_links` of its entries are taken, like the links of a page.
        """
        signature = blake2b(visit.answer.body, digest_size=SIGNATURE_BYTES).digest()
        entries = latest_dates(content.pages[:max_links])
        page = Page(links=tuple([Link(url) for url in entries]))
        parsed = Parsed(ParseOutcome.PARSED, page=page, signature=signature)
        taken = self._follow(visit, parsed, fresh, is_new_text=True)
        self._discovery.date(believable_dates(entries, int(visit.answer.started)), fresh)
        reason = f"feed: {content.problem or FEED}"
        outcome = self._outcome(visit, Kind.NOINDEX, parsed, reason=reason)
        return replace(outcome, links_taken=taken) if taken else outcome

    def redirected(self, visit: Visit, outcome: Outcome, fresh: DiscoveredUrls) -> Outcome:
        """Take the target unless too many redirects in a row led to this URL; return its outcome."""
        if self._take_up(visit, outcome.target, fresh):
            return outcome
        reason = f"chain of more than {self._max_redirects} redirects (fetch.max_redirects)"
        return replace(outcome, kind=Kind.EXCLUDED, target="", reason=reason)

    def _take_up(self, visit: Visit, target: str, fresh: DiscoveredUrls) -> bool:
        """Add the target, with the score of the URL that leads to it, unless the chain is too long."""
        entry = visit.entry
        if entry.hops >= self._max_redirects:
            return False
        depth, score = entry.depth + (entry.hops > 0), share_of(entry.score, 1)
        origin = Origin(visit.url, int(visit.answer.started), depth, score, entry.hops + 1)
        self._discovery.listed(origin, (target,), fresh)
        return True

    def _is_new_text(self, visit: Visit, parsed: Parsed) -> bool:
        """Return whether no page seen before has this text.

        A noindex page always counts as new, and its text is not remembered.
        """
        if parsed.page.directives.noindex:
            return True
        return self._lookalikes.find(visit.url, parsed.signature, parsed.sketch) is None

    def _follow(self, visit: Visit, parsed: Parsed, fresh: DiscoveredUrls, *, is_new_text: bool) -> int:
        """Take the links; return how many are taken so far if another visit must take the rest, else 0."""
        page, entry = parsed.page, visit.entry
        if page.directives.nofollow:
            return 0
        links = [(link.url, link.text) for link in page.links if not (link.rel and link.nofollow)]
        menus = [link.url for link in page.links if link.boilerplate]
        given = entry.score * LINK_SHARE * share_for_links(page.details.signs)
        share = share_of(given, len(links))
        origin = Origin(visit.url, int(visit.answer.started), entry.depth + 1, share)
        relevance = self._discovery.relevance(visit.url, page.title, page.text)
        taken = self._discovery.links(
            origin, links, fresh, entry.links_taken, relevance, is_new_text=is_new_text, boilerplate=menus
        )
        return taken if entry.links_taken or parsed.signature != entry.signature else 0

    def _is_believable(self, url: str, canonical: str) -> bool:
        """Return whether we follow a canonical URL: it must be in scope and on a site of the same owner."""
        if not canonical or canonical == url:
            return False
        same_owner = registrable_domain(host_of(url)) == registrable_domain(host_of(canonical))
        return same_owner and self._discovery.in_scope(canonical)

    def _outcome(
        self,
        visit: Visit,
        kind: Kind,
        parsed: Parsed | None = None,
        *,
        target: str = "",
        named: str = "",
        reason: str = "",
    ) -> Outcome:
        answer = visit.answer
        # A 304 need not repeat an X-Robots-Tag header, so it could not tell us that a noindex has ended. And
        # for a page that was only partly read, a 304 would never bring the rest.
        is_lasting = kind is not Kind.NOINDEX or not answer.header("x-robots-tag")
        is_lasting = is_lasting and not (parsed and parsed.salvaged)
        return Outcome(
            kind,
            int(answer.started),
            code=answer.status,
            signature=parsed.signature if parsed else b"",
            etag=(is_lasting and answer.header("etag")) or "",
            last_modified=(is_lasting and answer.header("last-modified")) or "",
            target=target,
            reason=escaped(reason),
            depth=visit.entry.depth,
            named=named,
        )


def _document(visit: Visit, parsed: Parsed, explicit: ExplicitLists) -> Document:
    page, answer = parsed.page, visit.answer
    details = replace(page.details, explicit=explicit.rating(visit.url, page.title, page.headings, page.text))
    all_nofollow = page.directives.nofollow
    server = ServerDates(
        int(answer.started),
        visit.entry.lastmod,
        visit.entry.published,
        answer.header("last-modified") or "",
        answer.header("date") or "",
    )
    return Document(
        url=visit.url,
        title=page.title,
        headings=page.headings,
        text=page.text,
        language=parsed.language,
        links=tuple(
            [(link.url, link.text, all_nofollow or bool(link.rel and link.nofollow)) for link in page.links]
        ),
        fetched_at=int(visit.answer.started),
        last_modified=parse_mail_date(answer.header("last-modified") or "") or 0,
        signature=parsed.signature,
        sketch=parsed.sketch,
        canonical=page.canonical,
        details=with_server_dates(details, server),
        blocks=page.blocks,
    )
