"""Rules that change no answer because the index has no page of their target.

A user is told of them when the rules are set: most have a slip in the URL, often the wrong scheme. The others
wait for pages that are not fetched yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.search.rules.rule_places import SegmentPlaces
from crawlctl.pipeline.search.rules.rule_set import PAGE
from crawlctl.pipeline.search.rules.rules_file import read_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

MOST_NAMED = 10  # the most targets that are named
_OTHER_SCHEMES = {"http://": "https://", "https://": "http://"}


def unmatched_rules(store: Store, snapshot: Snapshot) -> list[str]:
    """Return a sentence for each target of the rules of which the index has no page."""
    placed = read_rules(store, snapshot)
    if placed is None:
        return []
    matched = {target for places in placed.places.values() for target, ranges in places.items() if ranges}
    unmatched = sorted(placed.rules.targets() - matched)
    named = unmatched[:MOST_NAMED]
    segments = segments_of(snapshot.files) if any(map(_with_other_scheme, named)) else []
    opened = [SegmentPlaces(store, segment) for segment in segments]
    found = [_sentence(opened, target) for target in named]
    left = len(unmatched) - len(found)
    return [*found, f"{left:,} more targets of the search rules match no page"] if left else found


def _sentence(opened: Sequence[SegmentPlaces], target: str) -> str:
    shown, other = target.removeprefix(PAGE), _with_other_scheme(target)
    if other and any(segment.of(other) for segment in opened):
        return f"no page in the index matches {shown}, but {other.removeprefix(PAGE)} does: write that"
    return f"no page in the index matches {shown} so far; the rule counts as soon as one does"


def _with_other_scheme(target: str) -> str:
    """Return the target with the other scheme; "" if it has no scheme."""
    page = PAGE if target.startswith(PAGE) else ""
    rest = target.removeprefix(PAGE).strip()
    for scheme, other in _OTHER_SCHEMES.items():
        if rest.lower().startswith(scheme):
            return page + other + rest[len(scheme) :]
    return ""
