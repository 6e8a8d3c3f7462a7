"""Writes an archived answer as Markdown, with the limits that the crawl has for parsing."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import NothingMatched
from crawlctl.pipeline.http.exchange import parse_headers
from crawlctl.pipeline.terminal.printable import escaped
from crawlctl.pipeline.text.documents.document import FetchedDocument, ParseOutcome, ParseRules
from crawlctl.pipeline.text.markdown.markdown_document import guarded_markdown
from crawlctl.pipeline.urls.hosts import host_of, partition_of
from crawlctl.pipeline.webdb.repeated.block_table import known_blocks

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.text.documents.page import Page


def archived_document(url: str, head: bytes, body: bytes) -> FetchedDocument:
    """Return the document in an archived answer; `head` has its headers."""
    content_type = next((value for name, value in parse_headers(head) if name == "content-type"), "")
    return FetchedDocument(url, body, content_type)


def archived_markdown(store: Store, snapshot: Snapshot, document: FetchedDocument, config: Config) -> Page:
    """Return the page in an archived document, with Markdown as its text.

    Repeated blocks are left out. Which blocks are repeated is decided by the crawl of now, which may know
    more than at the visit.
    """
    url, host = document.url, host_of(document.url)
    known = known_blocks(store, snapshot, partition_of(host, snapshot.partitions), (host,))
    rules = ParseRules(config.parse, config.urls.strip_parameters, config.fetch.agent, sites=config.sites)
    parsed = guarded_markdown(msgspec.structs.replace(document, repeated=known.repeated(host)), rules)
    if parsed.outcome is not ParseOutcome.PARSED and not parsed.salvaged:
        why = f"{parsed.outcome.value}: {parsed.note or document.content_type or 'no type'}"
        raise NothingMatched(
            f"{url} cannot be written as Markdown ({escaped(why)}); "
            f"`crawlctl show --raw {quote(url)} > FILE` writes what the server sent"
        )
    return parsed.page
