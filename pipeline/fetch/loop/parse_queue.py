"""The documents that wait for the parser, with limits per host so that no host can block other hosts.

Waiting bodies take memory. A host with too many waiting bytes is not asked for more until some are parsed;
other hosts go on. A host whose slow documents took more than `parse.host_time` of CPU time has used its share
of the round: its waiting documents are given up, and the host is left for the next round.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapContent
from crawlctl.pipeline.text.guarded.fair_queue import SLOW
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.config.units import Duration
    from crawlctl.pipeline.politeness.polite_queue import PoliteQueue
    from crawlctl.pipeline.text.documents.document import FetchedDocument, Parsed
    from crawlctl.pipeline.text.guarded.guard import Guard

_HOST_BYTES = 4 << 20  # the most waiting bytes per host
_MANY_BYTES = 32 << 20  # waiting bytes of all hosts; above this a host may have only _FEW_BYTES
_FEW_BYTES = 256 << 10
_MOST_BYTES = 64 << 20  # waiting bytes of all hosts; above this no host is asked at all
_SLOW_SITEMAP = 1.0  # CPU seconds; a sitemap with the allowed maximum of 50,000 pages takes half of that
_OVERHEAD = 4 << 10  # bytes of Python objects around a body


class _Waiting(NamedTuple):
    host: str
    bytes: int
    tag: Any


class ParseQueue:
    """The documents of a task that wait for the parser or are being parsed."""

    def __init__(self, guard: Guard, queue: PoliteQueue, host_time: Duration) -> None:
        self._guard = guard
        self._queue = queue
        self._host_time = host_time
        self._all_bytes = 0
        self._bytes: Counter[str] = Counter()
        self._slow_seconds: defaultdict[str, float] = defaultdict(float)
        self._held: set[str] = set()
        self._given_up: set[str] = set()

    def __len__(self) -> int:
        """Return the number of documents that wait or are being parsed."""
        return len(self._guard)

    @property
    def is_full(self) -> bool:
        """Whether no more requests should start, because too many bytes wait."""
        return self._all_bytes >= _MOST_BYTES

    @property
    def refusal(self) -> str:
        """The reason why documents of a host that used up its time are given up."""
        return f"the host's slow documents have taken parse.host_time = {self._host_time} of CPU time"

    def submit(self, document: FetchedDocument, tag: Any, *, is_sitemap: bool = False) -> bool:
        """Queue a document; return False if its host has used up its time. `tag` comes back in `collect`."""
        host = host_of(document.url)
        if host in self._given_up:
            self._queue.set_aside(host, self.refusal)
            return False
        size = len(document.body) + _OVERHEAD
        self._all_bytes += size
        self._bytes[host] += size
        self._guard.submit(document, _Waiting(host, size, tag), is_sitemap=is_sitemap)
        if self._bytes[host] > self._allowed:
            self._held.add(host)
            self._queue.hold(host)
        return True

    def collect(self, wait: float) -> Iterator[tuple[Any, Parsed | SitemapContent | None]]:
        """Yield tag and content of parsed documents, None for documents that are given up.

        Wait at most `wait` seconds for the first one.
        """
        for done in self._guard.collect(wait):
            waiting: _Waiting = done.tag
            self._forget(waiting)
            yield waiting.tag, done.result
            if done.seconds > (_SLOW_SITEMAP if isinstance(done.result, SitemapContent) else SLOW):
                self._slow_seconds[waiting.host] += done.seconds
                if self._slow_seconds[waiting.host] > self._host_time:
                    yield from ((tag, None) for tag in self._give_up(waiting.host))
        self._release()

    def skip_slow(self) -> None:
        """Stop parsing the current document if it is slow; its URL stays due."""
        for waiting in self._guard.interrupt():
            self._forget(waiting)

    def _give_up(self, host: str) -> Iterator[Any]:
        if host not in self._given_up:
            self._given_up.add(host)
            self._queue.set_aside(host, self.refusal)
        for waiting in self._guard.drop(host):
            self._forget(waiting)
            yield waiting.tag

    def _forget(self, waiting: _Waiting) -> None:
        self._all_bytes -= waiting.bytes
        self._bytes[waiting.host] -= waiting.bytes
        if not self._bytes[waiting.host]:
            del self._bytes[waiting.host]

    def _release(self) -> None:
        most = self._allowed // 2
        for host in [host for host in self._held if self._bytes[host] <= most]:
            self._held.discard(host)
            self._queue.release(host)

    @property
    def _allowed(self) -> int:
        return _HOST_BYTES if self._all_bytes <= _MANY_BYTES else _FEW_BYTES
