"""Renders pages as HTML from templates/; all texts of strangers are escaped here."""

from __future__ import annotations

from email.utils import formatdate
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from crawlctl.pipeline.serve.searching.page_results import PER_HOST
from crawlctl.pipeline.serve.searching.search_links import is_short
from crawlctl.pipeline.serve.searching.search_request import SAFE, readable
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.terminal.printable import blanked
from crawlctl.pipeline.terminal.utc import utc_minute

if TYPE_CHECKING:
    from crawlctl.pipeline.search.answer.snippets import MarkedText


def rendered(template: str, **values: Any) -> str:
    """Return the HTML of a template; a name that a template misses is an error."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    """Return the templates, compiled once per process."""
    environment = Environment(
        loader=PackageLoader("crawlctl.pipeline.serve"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(
        marked=marked,
        shown=blanked,
        minute=utc_minute,
        mail_date=_mail_date,
        duration=duration,
        readable=readable,
    )
    environment.tests["long"] = lambda query: not is_short(query)
    environment.globals.update(counted=counted, default_safe=SAFE, per_host=PER_HOST)
    return environment


def marked(text: MarkedText) -> Markup:
    """Return a text of a stranger as HTML, with `<mark>` around the words of the query."""
    shown, parts, at = blanked(text.text), [], 0  # it has the same length, so the spans still fit
    for start, end in text.spans:
        parts += [escape(shown[at:start]), "<mark>", escape(shown[start:end]), "</mark>"]
        at = end
    # Not Markup("").join(…), which would take most of the time of a page, because it checks each part again.
    return Markup("".join((*parts, escape(shown[at:]))))  # noqa: S704  # every part is escaped


def duration(seconds: float) -> str:
    """Return a duration as people read it: 6.2 ms, 161 ms, 1.2 s."""
    if seconds >= 1:
        return f"{seconds:.1f}\N{NO-BREAK SPACE}s"
    milliseconds = seconds * 1000
    return f"{milliseconds:.{0 if milliseconds >= 10 else 1}f}\N{NO-BREAK SPACE}ms"


def _mail_date(seconds: float) -> str:
    """Return a time as feeds write it (RFC 822)."""
    return formatdate(seconds, usegmt=True)
