"""Says which rules for sites apply to a URL, and what they have found in its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.config.settings import SiteRules
from crawlctl.pipeline.text.details.site_keys import site_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.text.documents.page import PageDetails


class SiteReport(msgspec.Struct, frozen=True):
    """The rules that hold for a URL, and whether its stored page was read by them."""

    key: str
    rules: SiteRules | None  # None: the page was read by rules that are no longer set
    is_applied: bool | None  # whether the stored page was read by exactly these rules; None: not looked up
    unmatched: tuple[str, ...] = ()  # rules that matched nothing in the page

    def line(self) -> str:
        """Return the report in words."""
        if self.rules is None:
            return f"the page was read by rules for {self.key} that are no longer set"
        said = f"{self.key}: {', '.join(_rules_in_words(self.rules)) or 'no rule'}"
        if self.is_applied is False:
            return f"{said}; the page was not read by these rules so far"
        others = [name for name in self.unmatched if name != "content"]
        missed = (
            ["content matches nothing, so all of the page counts"]
            if len(others) < len(self.unmatched)
            else []
        )
        missed += [f"nothing in the page matches {', '.join(others)}"] if others else []
        return "; ".join([said, *missed])


def _rules_in_words(rules: SiteRules) -> list[str]:
    said = [
        f"{name} {selector}" for name in ("content", "remove", "title") if (selector := getattr(rules, name))
    ]
    return said + ([f"fields {' '.join(rules.fields)}"] if rules.fields else [])


def site_report(
    sites: Mapping[str, SiteRules], url: str, details: PageDetails | None, *, is_looked_up: bool = True
) -> SiteReport | None:
    """Return the report about a URL and the rules for sites; None if no rules apply and none were used.

    `details` are those of the stored page, None if there is no such page.
    """
    key = site_of(sites, url) if sites else None
    if key is None:
        return SiteReport(details.site, None, is_applied=False) if details and details.site else None
    from crawlctl.pipeline.text.details.site_rules import version_of

    known = (details.site, details.site_version) if details else ("", "")
    is_applied = known == (key, version_of(sites[key])) if is_looked_up else None
    return SiteReport(key, sites[key], is_applied, details.unmatched if details and is_applied else ())
