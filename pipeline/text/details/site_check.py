"""Checks the rules for sites when they are set, so that a wrong rule is refused at once, not during a crawl.

lexbor is C code, so each selector is tried in a helper process (text/guarded): a selector that crashes
lexbor, takes too long or cannot be parsed is refused. A message names the site, the rule and the selector.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.terminal.printable import escaped
from crawlctl.pipeline.text.details.site_keys import site_key
from crawlctl.pipeline.text.documents.document import FetchedDocument, Parsed, ParseOutcome, ParseRules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crawlctl.pipeline.config.settings import FieldRule, SiteRules

MAX_SELECTOR = 500  # the most characters of a selector
MAX_FIELDS = 20  # the most fields per site
_SECONDS = Duration(2)  # CPU time of one selector on the sample
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_PATH = re.compile(r"[^\s.]+(\.[^\s.]+)*")
# Names of fields that every page has, as in the query title:word; rules may not define them again.
_TAKEN = frozenset(("title", "body", "text", "heading", "url", "anchor", "site", "language", "description"))
_BLOCK = (
    '<div class="d e" data-f=g><p>h <b class=i>j</b><a href="/k" rel=l>m</a></p><ul><li>n<li>o</ul></div>'
)
_SAMPLE = (
    '<html lang=en><head><title>t</title><meta name=a content=b></head><body class="a b" id=c>'
    f"{_BLOCK * 9}<main><article><h1>p</h1><table><tr><td>q<td>r</table></article></main></body></html>"
)


def check_sites(sites: Mapping[str, SiteRules]) -> None:
    """Raise ConfigError for the first rule that cannot be used."""
    for key, rules in sites.items():
        site_key(key)
        if len(rules.fields) > MAX_FIELDS:
            raise ConfigError(f"sites: {key} has more than {MAX_FIELDS} fields; remove some")
        for name, field in rules.fields.items():
            _check_field(f"sites: {key}: fields.{escaped(name)}", name, field)
    _check_selectors([found for key, rules in sites.items() for found in _selectors(key, rules)])


def _selectors(key: str, rules: SiteRules) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each selector."""
    for name in ("content", "remove", "title"):
        if selector := getattr(rules, name):
            yield f"sites: {key}: {name}", selector
    for name, field in rules.fields.items():
        if field.css:
            yield f"sites: {key}: fields.{name}.css", field.css


def _check_field(place: str, name: str, field: FieldRule) -> None:
    if not _NAME.fullmatch(name) or name in _TAKEN:
        raise ConfigError(
            f"{place} is no name for a field; take up to 32 small letters, digits and _, and none of "
            f"{', '.join(sorted(_TAKEN))}"
        )
    sources = [source for source in ("css", "meta", "json_ld") if getattr(field, source)]
    if len(sources) != 1:
        raise ConfigError(f"{place} needs one source: css, meta or json_ld; it has {len(sources)}")
    if field.attribute and not field.css:
        raise ConfigError(f"{place}.attribute goes with css only; remove it")
    if field.json_ld and not _PATH.fullmatch(field.json_ld):
        raise ConfigError(
            f"{place}.json_ld is {escaped(field.json_ld)!r}, which is no path; write names with points "
            "between them, such as offers.price"
        )


def _check_selectors(selectors: Iterable[tuple[str, str]]) -> None:
    from crawlctl.pipeline.text.guarded.guard import Guard

    waiting = list(selectors)
    for place, selector in waiting:
        if len(selector) > MAX_SELECTOR:
            raise _unusable(place, selector, f"it is longer than {MAX_SELECTOR} characters")
    if not waiting:
        return
    rules = ParseRules(ParseSettings(time_limit=_SECONDS))
    with Guard(rules, parse=_tried, salvage=_failed) as guard:
        for place, selector in waiting:
            document = FetchedDocument("http://localhost/", selector.encode("utf-8", "replace"))
            outcome = guard.parse(document).outcome
            if outcome is not ParseOutcome.PARSED:
                raise _unusable(place, selector, _REASONS.get(outcome, "lexbor crashes with it"))


def _tried(document: FetchedDocument, _rules: ParseRules) -> Parsed:
    """Use a selector, sent as the body of a document, on a sample; in the helper process."""
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    try:
        LexborHTMLParser(_SAMPLE).css(document.body.decode())
    except SelectolaxError:
        return Parsed(ParseOutcome.UNREADABLE)
    return Parsed(ParseOutcome.PARSED)


def _failed(_document: FetchedDocument, _rules: ParseRules, cause: ParseOutcome, note: str = "") -> Parsed:
    return Parsed(cause, note=note)


_REASONS = {
    ParseOutcome.UNREADABLE: "it is no CSS selector that lexbor understands",
    ParseOutcome.TIMEOUT: f"it takes more than {_SECONDS} of CPU time on a small page",
    ParseOutcome.MEMORY: "it takes too much memory",
}


def _unusable(place: str, selector: str, reason: str) -> ConfigError:
    shown = escaped(selector if len(selector) <= 80 else f"{selector[:79]}…")
    return ConfigError(f"{place}: {shown!r} cannot be used: {reason}; write one such as main or 'nav, .ads'")
