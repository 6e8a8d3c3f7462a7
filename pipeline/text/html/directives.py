"""Reads instructions of a page to programs: meta robots, the X-Robots-Tag header and meta refresh."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlctl.pipeline.text.documents.page import Directives

if TYPE_CHECKING:
    from collections.abc import Iterable

AGENT = "crawlctl"

_EVERYONE = ("", "robots")
# Rules that contain a colon; in all other rules a colon follows the name of a robot.
_WITH_VALUE = {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
_REFRESH = re.compile(r"\s*(\d*)(?:\.[\d.]*)?(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(.*)", re.I | re.S)
_MAX_REFRESH_DIGITS = 9


def meta_robots(name: str, content: str, agent: str = AGENT) -> Directives:
    """Return the directives to our robot in a meta element; elements for all robots and for ours add up."""
    if name.strip().lower() not in (*_EVERYONE[1:], agent.lower()):
        return Directives()
    return _directives(_split(content))


def robots_tags(values: Iterable[str], agent: str = AGENT) -> Directives:
    """Return the directives to our robot in X-Robots-Tag headers of the form `[robot:] rule, rule…`."""
    return _directives(robots_rules(values, agent))


def robots_rules(values: Iterable[str], agent: str = AGENT) -> set[str]:
    """Return the rules of X-Robots-Tag headers for our robot, in lower case, also those we do not follow."""
    rules: set[str] = set()
    for value in values:
        name, colon, rest = value.partition(":")
        name = name.strip().lower()
        if not colon or "," in name or name in _WITH_VALUE:
            name, rest = "", value
        if name in (*_EVERYONE, agent.lower()):
            rules |= _split(rest)
    return rules


def _split(content: str) -> set[str]:
    return {rule.strip().lower() for rule in content.split(",")}


def _directives(rules: set[str]) -> Directives:
    everything = "none" in rules
    return Directives(everything or "noindex" in rules, everything or "nofollow" in rules)


def refresh_of(content: str) -> tuple[int, str] | None:
    """Return the seconds and the link of a meta refresh, or None if it only reloads the page.

    https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps
    """
    match = _REFRESH.match(content)
    if match is None or not (match[1] or content.lstrip().startswith(".")):
        return None
    link = match[2]
    if link[:1] in ("'", '"'):
        link = link[1:].partition(link[0])[0]
    if not link.strip():
        return None
    return int(match[1][:_MAX_REFRESH_DIGITS] or 0), link
