"""XHTML as HTML, for the parser of HTML.

It takes `<script/>`, `<title/>` and `<a/>` for tags that are never closed, and the rest of the page for
what they contain; in XHTML, that is in XML, they are empty.  And it knows no CDATA sections.
"""

from __future__ import annotations

import re
from html import escape

from crawlctl.pipeline.text.html.elements import VOID

# The length of values is bounded and a name ends where it can go no further, so that neither quotes nor a tag
# that never close can make the search quadratic.
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
