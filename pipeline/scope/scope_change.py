"""Whether a change of the scope may let in URLs that were left out before.

The links of a page that the scope excluded when the page was read are recorded nowhere. To find them, the
archive must be read again, which takes long in a large crawl. So this module tells the changes that can only
exclude URLs from all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import ScopeSettings

_LIMITS = (
    "max_depth",
    "max_url_length",
    "max_path_segments",
    "max_segment_repeats",
    "max_query_parameters",
)
_EXCLUDING = ("exclude", "forgotten", "hidden", "skip_extensions", "session_parameters")


def may_widen(before: ScopeSettings, after: ScopeSettings) -> bool:
    """Return whether the scope after a change may include a URL that the scope before it excluded."""
    if any(getattr(after, name) > getattr(before, name) for name in _LIMITS):
        return True
    if any(set(getattr(before, name)) - set(getattr(after, name)) for name in _EXCLUDING):
        return True
    # Without rules the hosts of the seeds are included, which no rule needs to be among.
    if before.include and after.include:
        return bool(set(after.include) - set(before.include))
    return before.include != after.include
