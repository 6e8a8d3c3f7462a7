"""ServedCrawl: all that the pages and the API of one server process share, and the options of a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.serve.archived_copy import StoredPages
from crawlctl.pipeline.serve.limits.token_buckets import TokenBuckets
from crawlctl.pipeline.serve.limits.work_lane import WorkLane
from crawlctl.pipeline.serve.metrics import Metrics
from crawlctl.pipeline.serve.served_index import ServedIndex
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.open import open_store

if TYPE_CHECKING:
    from crawlctl.pipeline.serve.served_index import Contents
    from crawlctl.pipeline.store.base import Store

MAX_WAITING = 32  # the most searches in the queue; at 5 ms each, the last one waits a sixth of a second
SEARCH_SECONDS = 10.0  # after this time a client is told to ask again
READERS = 2  # threads that read stored pages and copies
READ_SECONDS = 20.0


@dataclass(frozen=True)
class ServeOptions:
    """The options that a server is started with; each worker process gets a copy."""

    store: str  # URI
    hosts: tuple[str, ...] = ()  # the host names under which it answers, beside IP addresses and localhost
    origins: tuple[str, ...] = ()  # the origins of web pages whose scripts may use the API
    config: Config = field(default_factory=Config)  # its settings name and parse pages
    metrics_folder: str = ""  # a folder that all workers share
    client_rate: float = 0  # requests per second per client; 0: no limit
    proxies: tuple[str, ...] = ()  # addresses and networks whose X-Forwarded-For is believed
    mcp: bool = False  # whether agents may use the tools at /mcp
    name: str = ""  # the name of the crawl, if the server has several crawls
    others: tuple[ServeOptions, ...] = ()  # the crawls beside this one, each with its store, config and name


class ServedCrawl:
    """One crawl in one server process, from its start to its end.

    `searching` is the only thread that uses the index. `reading` are the threads that read stored pages, so
    that a large copy in a slow store delays no search.
    """

    def __init__(self, options: ServeOptions) -> None:
        self.options = options
        self.store: Store = open_store(options.store)
        self.metrics = Metrics(options.metrics_folder)
        self.buckets = TokenBuckets(options.client_rate, options.metrics_folder)
        self.searching = WorkLane("search", threads=1, waiting=MAX_WAITING, seconds=SEARCH_SECONDS)
        self.reading = WorkLane("read", threads=READERS, waiting=MAX_WAITING, seconds=READ_SECONDS)

    @cached_property
    def index(self) -> ServedIndex:
        """The index, opened at first use; only the thread of `searching` may ask it."""
        return ServedIndex(self.store)

    def contents(self) -> Contents:
        """Return what can be searched; only in the thread of `searching`."""
        return self.index.contents()

    def readable_contents(self) -> Contents:
        """Return what can be searched; raise an error if the store cannot be read. In that thread too."""
        return self.index.readable_contents()

    def pages(self) -> StoredPages:
        """Return the stored pages of the current snapshot."""
        snapshot = load_current(self.store)
        config = self.options.config
        return StoredPages(self.store, snapshot, config.urls.strip_parameters, config.fetch.agent)

    def markdown(self, url: str) -> str:
        """Return the newest copy of a page as Markdown."""
        from crawlctl.pipeline.crawl.listings.archived_page import archived_document, archived_markdown

        pages = self.pages()
        copy = pages.copy(url)
        document = archived_document(copy.url, copy.head, copy.body)
        return archived_markdown(self.store, pages.snapshot, document, self.options.config).text
