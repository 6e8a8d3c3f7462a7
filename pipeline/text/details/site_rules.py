"""Reads a page by the rules for its site: they say where its text, title and fields are.

The user writes the rules for sites that the general rules misjudge, so these rules win. The text of the page
is then the text of a smaller document: the elements that `content` matches, without those that `remove`
matches. Links, metadata and the directives to robots are still read from the whole page. If `content` matches
nothing, all of the page counts: a site that changes its pages must not lose their words. If it matches, no
block in it is taken for boilerplate: the rule counts, even for a block that looks like a menu.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from crawlctl.pipeline.text.details.field_values import MAX_KEYWORD, field_value
from crawlctl.pipeline.text.details.json_ld import documents_in, values_at
from crawlctl.pipeline.text.details.metadata import cleaned
from crawlctl.pipeline.urls.hosts import stable_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from selectolax.lexbor import LexborNode

    from crawlctl.pipeline.config.settings import FieldRule, SiteRules
    from crawlctl.pipeline.text.documents.page import Page, PageDetails

    FieldValue = str | int | float

MAX_VALUES = 20  # the most values per field of a page
_LD_SCRIPTS = 'script[type="application/ld+json" i]'
_OF_TABLES = frozenset(("tr", "tbody", "thead", "tfoot", "caption"))
_OF_ROWS = frozenset(("td", "th", "body", "html"))


class SiteReading(NamedTuple):
    """The result of reading one page by the rules for its site."""

    html: str | None  # the document whose text is the text of the page; None means the page itself
    is_content: bool  # all of it is content, because `content` has matched
    title: str
    fields: tuple[tuple[str, FieldValue], ...]
    unmatched: tuple[str, ...]  # the rules that match nothing


def page_by_rules(
    page: Page, html: str, key: str, rules: SiteRules, parse: Callable[[str, bool], Page], *, max_title: int
) -> Page:
    """Return a page as the rules of `key` see it.

    `parse` parses the smaller document; its second argument says whether all of it is content.
    """
    found = read_by_rules(html, rules, max_title)
    details = replace(
        page.details,
        fields=(*_stated_fields(page.details, rules), *found.fields),
        site=key,
        site_version=version_of(rules),
        unmatched=found.unmatched,
    )
    page = replace(page, title=found.title or page.title, details=details)
    if found.html is None:
        return page
    part = parse(found.html, found.is_content)
    inner = part.details
    details = replace(details, sections=inner.sections, emphasised=inner.emphasised, repeated=inner.repeated)
    return replace(page, text=part.text, whole=part.whole, headings=part.headings, details=details)


def _stated_fields(details: PageDetails, rules: SiteRules) -> Iterator[tuple[str, FieldValue]]:
    """Yield the fields that the page states itself, without those that the rules define."""
    return ((name, value) for name, value in details.fields if name not in rules.fields)


def version_of(rules: SiteRules) -> str:
    """Return a short hash of the rules: pages with another hash were read by other rules."""
    return stable_digest(msgspec.json.encode(rules, order="deterministic"))[:4].hex()


def read_by_rules(html: str, rules: SiteRules, max_title: int) -> SiteReading:
    """Return the result of the rules of a site for a page."""
    tree = LexborHTMLParser(html)
    unmatched: list[str] = []
    title = ""
    if rules.title:
        matches = select(tree, rules.title)[:1]
        # Documentation generators put ¶, a link to the heading itself, behind each heading.
        title = cleaned(matches[0].text(), max_title).rstrip(" ¶") if matches else ""
        unmatched += [] if title else ["title"]
    fields: list[tuple[str, FieldValue]] = []
    for name, rule in rules.fields.items():
        values = list(_values(tree, rule))
        fields += ((name, value) for value in values[:MAX_VALUES])
        unmatched += [] if values else [f"fields.{name}"]
    smaller = _smaller(tree, rules, unmatched)
    is_content = bool(rules.content) and "content" not in unmatched
    return SiteReading(smaller, is_content, title, tuple(fields), tuple(unmatched))


def select(tree: LexborHTMLParser, selector: str) -> list[LexborNode]:
    """Return the elements that a selector matches; none if this version of lexbor does not understand it."""
    try:
        return tree.css(selector)
    except (SelectolaxError, UnicodeEncodeError):
        return []


def _smaller(tree: LexborHTMLParser, rules: SiteRules, unmatched: list[str]) -> str | None:
    """Return the document that remains after `content` and `remove`; None if they match nothing."""
    removed = _outermost(select(tree, rules.remove)) if rules.remove else []
    for node in removed:
        node.decompose()
    kept = _outermost(select(tree, rules.content)) if rules.content else []
    unmatched += ["remove"] if rules.remove and not removed else []
    unmatched += ["content"] if rules.content and not kept else []
    if kept:
        return "\n".join(map(_standing_alone, kept))
    return (tree.html or "") if removed else None


def _outermost(nodes: list[LexborNode]) -> list[LexborNode]:
    """Return the nodes that are not inside another of the nodes; they come in the order of the document."""
    chosen: set[int] = set()
    found = []
    for node in nodes:
        above = node.parent
        while above is not None and above.mem_id not in chosen:
            above = above.parent
        if above is None:
            chosen.add(node.mem_id)
            found.append(node)
    return found


def _standing_alone(node: LexborNode) -> str:
    """Return the HTML of an element such that it keeps its meaning without the elements around it."""
    if node.tag in _OF_ROWS:
        return f"<div>{node.inner_html or ''}</div>"
    html = node.html or ""
    return f"<table>{html}</table>" if node.tag in _OF_TABLES else html


def _values(tree: LexborHTMLParser, rule: FieldRule) -> Iterator[FieldValue]:
    for written in _written(tree, rule):
        value = field_value(written, rule.kind)
        if value is not None:
            yield value


def _written(tree: LexborHTMLParser, rule: FieldRule) -> Iterator[FieldValue]:
    if rule.json_ld:
        yield from values_at(documents_in(node.text() or "" for node in tree.css(_LD_SCRIPTS)), rule.json_ld)
    elif rule.meta:
        wanted = rule.meta.lower()
        for node in tree.css("meta[content]"):
            attributes = node.attributes
            names = (attributes.get(name) for name in ("name", "property", "itemprop"))
            if any(name and name.lower() == wanted for name in names):
                yield attributes.get("content") or ""
    else:
        for node in select(tree, rule.css)[: 4 * MAX_VALUES]:
            yield (node.attributes.get(rule.attribute) or "") if rule.attribute else _shown(node)


def _shown(node: LexborNode) -> str:
    return node.text(separator=" ")[: 4 * MAX_KEYWORD]
