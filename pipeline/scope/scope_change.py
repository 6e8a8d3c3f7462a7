"""Whether a change of the scope may let in URLs that were left out before.

The links of a page that the scope excluded when the page was read are recorded nowhere. To find them, the
archive must be read again, which takes long in a large crawl. So this module finds out whether a change can
only exclude URLs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import ScopeSettings

# Each setting of the section is in exactly one of these lists (a test holds that).
# Numbers: a greater one may include more.
LIMITS = (
    "max_depth",
    "max_url_length",
    "max_path_segments",
    "max_segment_repeats",
    "max_query_parameters",
)
# Rules and names that exclude: without one of them more may be included.
EXCLUDING = ("exclude", "forgotten", "hidden", "skip_extensions", "session_parameters")
# Rules that include: with one more, or without any, more may be included.
INCLUDING = ("include",)
# Settings that exclude nothing for good: a page whose links were not all taken is visited again for the rest.
HARMLESS = ("max_new_urls_per_page",)


def may_widen(before: ScopeSettings, after: ScopeSettings) -> bool:
    """Return whether the scope after a change may include a URL that the scope before it excluded."""
    if any(getattr(after, name) > getattr(before, name) for name in LIMITS):
        return True
    if any(set(getattr(before, name)) - set(getattr(after, name)) for name in EXCLUDING):
        return True
    return any(_admit_more(getattr(before, name), getattr(after, name)) for name in INCLUDING)


def _admit_more(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    # Without rules the hosts of the seeds are included, although no rule may match them.
    return bool(set(after) - set(before)) if before and after else before != after
