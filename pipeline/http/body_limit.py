"""At how many bytes the body of an answer is cut off.

A request with a limit of its own (robots.txt, sitemaps) is cut at that limit. A page is cut at
fetch.max_body. A PDF is useless when it is cut, because its table of contents lies at its end; so it may grow
to parse.max_pdf. Only the first bytes count, because without them the parser reads no body as a PDF, whatever
its Content-Type says. The memory of all bodies together is bounded elsewhere (body_budget.py).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlctl.pipeline.http.exchange import Request

SNIFFED_BYTES = 69
_PDF_START = re.compile(rb"[\t\n\f\r ]{0,64}%PDF-")  # as in text/documents/sniff.py


def body_limit(request: Request, max_body: int) -> int:
    """Return the limit in bytes of a body whose type is not known yet."""
    return max_body if request.max_bytes is None else request.max_bytes


def pdf_limit(request: Request, max_body: int) -> int:
    """Return the limit in bytes of a body that is a PDF."""
    limit = body_limit(request, max_body)
    return limit if request.max_bytes is not None else max(limit, request.max_pdf_bytes)


def is_pdf(start: bytes) -> bool:
    """Return whether a body that begins with these bytes is a PDF."""
    return _PDF_START.match(start) is not None
