"""Finds pages that an earlier attempt of the task has archived but not parsed.

A page is archived when its answer arrives, and the run may be saved before the page is parsed. After a kill
the page is read from the archive, so its host is not asked again.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.fetch.pages.outcomes import has_content
from crawlctl.pipeline.fetch.save.archive import FIRST_UNPARSED, UNPARSED
from crawlctl.pipeline.formats.warc.warc_date import seconds_of
from crawlctl.pipeline.formats.warc.warc_reader import WarcReader, split_http
from crawlctl.pipeline.http.exchange import Answer, Request, Truncation, parse_headers
from crawlctl.pipeline.state.kinds import PAGES
from crawlctl.pipeline.state.manifest import open_whole
from crawlctl.pipeline.urls.hosts import webdb_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.fetch.save.adoption import Adopted
    from crawlctl.pipeline.formats.warc.warc_reader import WarcRecord
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

log = logging.getLogger(__name__)


def has_unparsed(adopted: Adopted) -> bool:
    """Return whether earlier attempts have left unparsed pages, by the counters of their files."""
    return any(entry.kind == PAGES and entry.counters.get(UNPARSED) for entry in adopted.files)


def unparsed_answers(store: Store, adopted: Adopted) -> Iterator[tuple[bytes, Answer]]:
    """Yield WebDB key and answer of each archived page without an outcome."""
    for entry in adopted.files:
        if entry.kind == PAGES and entry.counters.get(UNPARSED):
            try:
                yield from _unparsed_of(store, entry, adopted.done)
            except (CorruptFile, ValueError) as err:
                log.warning("unparsed pages in %s are fetched again, because of: %s", entry.name, err)


def _unparsed_of(store: Store, entry: FileEntry, done: set[bytes]) -> Iterator[tuple[bytes, Answer]]:
    left = entry.counters[UNPARSED]
    for record in WarcReader(open_whole(store, entry), entry.counters[FIRST_UNPARSED]):
        if not left:
            return
        if record.type != "response" or not record.url:
            continue
        key = webdb_key(record.url)
        if key in done:
            continue
        answer = _answer(record, record.url)
        if has_content(answer):
            left -= 1
            yield key, answer


def _answer(record: WarcRecord, url: str) -> Answer:
    head, body = split_http(record.read())
    version, status, *_ = head.split(b"\n", 1)[0].split()
    truncated = record.header("WARC-Truncated")
    return Answer(
        request=Request(url),
        url=url,
        started=seconds_of(record.header("WARC-Date") or ""),
        status=int(status),
        version=version[5:].decode("ascii", "replace"),
        head=head,
        headers=parse_headers(head),
        body=body,
        truncated=Truncation(truncated) if truncated else None,
        ip=record.header("WARC-IP-Address") or "",
    )
