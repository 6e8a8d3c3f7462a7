"""The settings of parsing: how much of a document is kept, and when to give up on it."""

from __future__ import annotations

from typing import Annotated

import msgspec

from crawlctl.pipeline.config.section import AtLeastOne, Section
from crawlctl.pipeline.config.units import Duration, Size

Similarity = Annotated[float, msgspec.Meta(ge=0.5, le=1.0)]


class ParseSettings(Section, frozen=True):
    """What is read of a document, what is kept of it, and what it may cost."""

    # CPU time one document may take; when it is used up the process that parses is stopped and replaced.
    time_limit: Duration = Duration(5)
    # CPU time that the slow documents of one host may take in a round: pages of more than a quarter of a
    # second, sitemaps of more than one. When it is used up, the rest of the host waits for a later round.
    host_time: Duration = Duration(60)
    # Memory one document may take on top of what the process has at its start (enforced on Linux).
    memory_limit: Size = Size(512 << 20)
    # Bytes of an HTML or text document that are read; what follows is left out.
    max_html: Size = Size(10 << 20)
    # Bytes of a PDF; a longer one is not read at all, for its table of contents stands at its end.
    max_pdf: Size = Size(32 << 20)
    # Pages of a PDF that are read.
    max_pdf_pages: AtLeastOne = 1000
    # Characters of visible text that are kept.
    max_text: Size = Size(1 << 20)
    # Different URLs a page may link to; further ones are left out.
    max_links: AtLeastOne = 10_000
    # Characters of the text of a link, of a title and of a heading that are kept.
    max_anchor: AtLeastOne = 200
    max_title: AtLeastOne = 500
    # Headings that are kept.
    max_headings: AtLeastOne = 500
    # Share of common word triples from which two documents count as near duplicates.
    near_duplicate: Similarity = 0.9
