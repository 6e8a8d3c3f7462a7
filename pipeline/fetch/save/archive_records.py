"""From an answer of the fetch engine to what goes into the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.warc.warc_writer import Capture
from crawlctl.pipeline.http.curl_options import request_head

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import FetchSettings
    from crawlctl.pipeline.http.exchange import Answer


def capture_of(answer: Answer, settings: FetchSettings) -> Capture:
    """Return the exchange for a WARC file; only an answer with a status has one."""
    if not answer.status:
        raise ValueError(f"{answer.url} was not answered: there is nothing to archive")
    return Capture(
        url=answer.url,
        date=answer.started,
        request=request_head(answer.url, answer.request, settings),
        head=answer.head,
        body=answer.body,
        ip=answer.ip,
        truncated=answer.truncated and answer.truncated.value,
        protocol="h2" if answer.version == "2" else "",
    )
