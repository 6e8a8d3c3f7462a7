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
    from collections.abc import Iterator

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
    found = [_sentence(store, snapshot, target) for target in unmatched[:MOST_NAMED]]
    left = len(unmatched) - len(found)
    return [*found, f"{left:,} more targets of the search rules match no page"] if left else found


def _sentence(store: Store, snapshot: Snapshot, target: str) -> str:
    shown = target.removeprefix(PAGE)
    for other in _other_schemes(target):
        if any(SegmentPlaces(store, segment).of(other) for segment in segments_of(snapshot.files)):
            return f"no page in the index matches {shown}, but {other.removeprefix(PAGE)} does: write that"
    return f"no page in the index matches {shown} so far; the rule counts as soon as one does"


def _other_schemes(target: str) -> Iterator[str]:
    """Yield the target with the other scheme, if it has one."""
    page = PAGE if target.startswith(PAGE) else ""
    rest = target.removeprefix(PAGE).strip()
    for scheme, other in _OTHER_SCHEMES.items():
        if rest.lower().startswith(scheme):
            yield page + other + rest[len(scheme) :]
