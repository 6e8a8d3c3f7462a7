"""Reads an archived answer: as Markdown, or as the text that the index has or would have of it.

The limits of parsing are those of the crawl. Repeated blocks are left out. Which blocks are repeated is
decided by the crawl of now, which may know more than at the visit.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import NothingMatched
from crawlctl.pipeline.formats.web_dates import parse_mail_date
from crawlctl.pipeline.http.exchange import parse_headers
from crawlctl.pipeline.index.segment.stored_documents import DocRecord, Lengths
from crawlctl.pipeline.terminal.printable import escaped
from crawlctl.pipeline.text.details.server_dates import ServerDates, with_server_dates
from crawlctl.pipeline.text.documents.document import FetchedDocument, ParseOutcome, ParseRules
from crawlctl.pipeline.text.guarded.guard import Guard
from crawlctl.pipeline.text.markdown.markdown_document import guarded_markdown
from crawlctl.pipeline.urls.hosts import host_of, partition_of
from crawlctl.pipeline.webdb.repeated.block_table import known_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.crawl.listings.page_captures import ArchivedAnswer
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.text.documents.document import Parsed
    from crawlctl.pipeline.text.documents.page import Page


def archived_document(url: str, head: bytes, body: bytes) -> FetchedDocument:
    """Return the document in an archived answer; `head` has its headers."""
    return FetchedDocument(url, body, dict(reversed(parse_headers(head))).get("content-type", ""))


def archived_markdown(store: Store, snapshot: Snapshot, document: FetchedDocument, config: Config) -> Page:
    """Return the page in an archived document, with Markdown as its text."""
    return _parsed(store, snapshot, document, config, guarded_markdown, form="Markdown").page


def archived_text(
    store: Store, snapshot: Snapshot, url: str, answer: ArchivedAnswer, config: Config
) -> DocRecord:
    """Return what the index would have of an archived answer, without the number of words.

    The date in a sitemap or feed is not among the details: the archive does not have it.
    """
    document = archived_document(url, answer.head, answer.body)
    parsed = _parsed(store, snapshot, document, config, _guarded_document, form="text")
    page, headers = parsed.page, dict(reversed(parse_headers(answer.head)))
    changed = headers.get("last-modified", "")
    server = ServerDates(answer.capture.time, last_modified=changed, date=headers.get("date", ""))
    return DocRecord(
        *(url, page.title, page.headings, Lengths(), parsed.language),
        *(answer.capture.time, parse_mail_date(changed) or 0, parsed.signature, page.canonical),
        *(with_server_dates(page.details, server), page.text),
    )


def _guarded_document(document: FetchedDocument, rules: ParseRules) -> Parsed:
    with Guard(rules) as guard:
        return guard.parse(document)


def _parsed(
    store: Store,
    snapshot: Snapshot,
    document: FetchedDocument,
    config: Config,
    parse: Callable[[FetchedDocument, ParseRules], Parsed],
    *,
    form: str,
) -> Parsed:
    url, host = document.url, host_of(document.url)
    known = known_blocks(store, snapshot, partition_of(host, snapshot.partitions), (host,))
    rules = ParseRules(config.parse, config.urls.strip_parameters, config.fetch.agent, sites=config.sites)
    parsed = parse(msgspec.structs.replace(document, repeated=known.repeated(host)), rules)
    if parsed.outcome is not ParseOutcome.PARSED and not parsed.salvaged:
        why = f"{parsed.outcome.value}: {parsed.note or document.content_type or 'no type'}"
        raise NothingMatched(
            f"{url} cannot be written as {form} ({escaped(why)}); "
            f"`crawlctl show --raw {quote(url)} > FILE` writes what the server sent"
        )
    return parsed
