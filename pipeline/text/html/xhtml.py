"""Rewrites XHTML so that a parser of HTML reads it right.

A parser of HTML takes `<script/>`, `<title/>` and `<a/>` for tags that are never closed, and the rest of the
page for their content. In XHTML, which is XML, they are empty elements. And HTML has no CDATA sections.
"""

from __future__ import annotations

import re
from html import escape

from crawlctl.pipeline.text.html.elements import VOID

# Values have a bounded length, and a name always extends to its last possible character. So neither a
# quote nor a tag that is never closed can make the search quadratic.
_EMPTY = re.compile(
    r"""<([A-Za-z][\w:.-]*)(?![\w:.-])([^<>"']*(?:(?:"[^"]{0,4096}"|'[^']{0,4096}')[^<>"']*)*)/>""",
)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.S)


def as_html(xhtml: str) -> str:
    """Return a page in which empty elements are closed and CDATA sections escaped."""
    return _EMPTY.sub(_closed, _CDATA.sub(lambda section: escape(section[1]), xhtml))


def _closed(tag: re.Match[str]) -> str:
    name, attributes = tag.groups()
    if name.lower() in VOID:
        return tag[0]
    return f"<{name}{attributes}></{name}>"
