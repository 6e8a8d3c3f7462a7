"""The URLs that a task still has to request, and the requests it makes for them."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.http.exchange import Request, RequestKind
from crawlctl.pipeline.robots.robots_lines import MAX_ROBOTS_BYTES
from crawlctl.pipeline.urls.hosts import host_of, url_of_key
from crawlctl.pipeline.webdb.records import decode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.fetch.pages.sitemap_queue import SitemapQueue
    from crawlctl.pipeline.fetch.select.selection import Due
    from crawlctl.pipeline.fetch.select.validators import Validators
    from crawlctl.pipeline.politeness.handout import Handout
    from crawlctl.pipeline.politeness.host_queue import HostQueue
    from crawlctl.pipeline.politeness.polite_queue import PoliteQueue
    from crawlctl.pipeline.webdb.records import WebEntry

SITEMAP_PRIORITY = 0.75  # behind the seeds, before the pages that the seeds link to


class RequestPurpose(NamedTuple):
    """Why a request was made; the engine returns it with the answer.

    A page has its WebDB key and entry. A sitemap or robots.txt has neither, unless it is due as a page too.
    `hops` and `seconds` count the redirects of a robots.txt and the time they took.
    """

    handout: Handout
    key: bytes | None = None
    entry: WebEntry | None = None
    hops: int = 0
    seconds: float = 0.0


class PlannedUrls:
    """The due URLs of a task that wait in the polite queue, with their WebDB entries.

    A URL is planned at most once per task, and no more than `max_pages` URLs are planned.
    """

    def __init__(
        self,
        queue: PoliteQueue,
        sitemaps: SitemapQueue,
        validators: Validators,
        config: Config,
        max_pages: int,
    ) -> None:
        self.total = 0  # pages planned so far, those from the archive included
        self.archived: set[bytes] = set()  # keys of pages that an earlier attempt has archived
        self._queue = queue
        self._sitemaps = sitemaps
        self._validators = validators
        self._config = config
        self._max_pages = max_pages
        self._waiting: dict[str, Due] = {}
        self._followed: set[str] = set()  # URLs that this round has found
        self._follows_waiting: Counter[str] = Counter()  # host → how many of them are not requested yet

    def add(self, urls: Iterable[Due]) -> None:
        """Queue URLs until the page budget is used up; earlier URLs have priority."""
        for due in urls:
            self._add(due)

    def follow(self, urls: Iterable[Due]) -> list[Due]:
        """Queue URLs that this round has found; return those for which the page budget has no room."""
        over = []
        for due in urls:
            if self._add(due):
                url = url_of_key(due.key)
                self._followed.add(url)
                self._follows_waiting[host_of(url)] += 1
            elif self.is_full:
                over.append(due)
        return over

    def withdraw(self) -> list[Due]:
        """Remove and return the URLs of `follow` that are not requested yet."""
        hosts = +self._follows_waiting
        waiting = {url for url in self._waiting if url in self._followed} if hosts else set()
        back = [due for url in self._queue.withdraw(waiting) if (due := self.take(url)) is not None]
        self.total -= len(back)
        return back

    def has_due(self, host: HostQueue) -> bool:
        """Return whether a host has work that `follow` has not brought: due pages, sitemaps, robots.txt."""
        if len(host) > self._follows_waiting[host.host]:
            return True
        return any(handout.url not in self._followed for handout in host.in_flight)

    def _add(self, due: Due) -> bool:
        url = url_of_key(due.key)
        if due.key in self.archived or self.is_full or not self._queue.add(url, due.score):
            return False
        self._waiting[url] = due
        self.total += 1
        return True

    @property
    def is_full(self) -> bool:
        """Whether the page budget is used up."""
        return self.total >= self._max_pages

    def add_sitemaps(self, urls: Iterable[str]) -> None:
        """Queue sitemaps; a sitemap that is due as a page too is requested only once.

        A feed may have been requested as a page earlier in this round. The pass over the sitemaps then goes
        on without this feed.
        """
        further = deque(urls)
        while further:
            url = further.popleft()
            if not self._queue.add(url, SITEMAP_PRIORITY) and url not in self._waiting:
                further.extend(self._sitemaps.skip(url))

    def skip_archived(self, key: bytes) -> None:
        """Do not request a page that is in the archive; it still uses up the page budget."""
        self.archived.add(key)
        self.total += 1

    def take(self, url: str) -> Due | None:
        """Return and forget the due entry of a URL, None if it was not planned as a page."""
        due = self._waiting.pop(url, None)
        if due is not None and url in self._followed:
            self._follows_waiting[host_of(url)] -= 1
        return due

    def request_for(self, handout: Handout) -> Request:
        """Return the request for a page or sitemap whose turn it is."""
        due, config = self.take(handout.url), self._config
        purpose = (
            RequestPurpose(handout, due.key, decode_entry(due.value)) if due else RequestPurpose(handout)
        )
        if handout.url in self._sitemaps:
            limit = config.sitemaps.max_bytes
            return Request(handout.url, RequestKind.SITEMAP, max_bytes=limit, tag=purpose)
        etag, last_modified = self._validators.of(purpose.entry) if purpose.entry else ("", "")
        return Request(
            handout.url,
            etag=etag or None,
            last_modified=last_modified or None,
            # With one byte more than the limit the parser sees that a PDF is too long, and says so.
            max_pdf_bytes=config.parse.max_pdf + 1,
            tag=purpose,
        )


def robots_request(url: str, purpose: RequestPurpose) -> Request:
    """Return the request for a robots.txt, at the URL of its host or at the target of a redirect."""
    # With one byte more than the limit the reader sees that the file was cut, and drops its last line.
    return Request(url, RequestKind.ROBOTS, max_bytes=MAX_ROBOTS_BYTES + 1, tag=purpose)
