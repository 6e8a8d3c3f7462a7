"""PageCounts: the results of the pages of a round or of a run, under names that users know."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.fetch.save.run_buffer import BYTES, CHANGED, FAILED_WITH, NEW, UNCHANGED
from crawlctl.pipeline.state.kinds import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlctl.pipeline.state.manifest import FileEntry

_KINDS = {  # counters by kind of outcome (webdb/records.py)
    "redirected": ("found", "moved"),
    "gone": ("gone",),
    "forbidden": ("forbidden", "disallowed"),
    "excluded": ("excluded", "noindex"),
}
_FAILED = "failed"


class PageCounts(msgspec.Struct, frozen=True):
    """Numbers of pages by their result; the names are the names in `crawlctl run --json`."""

    new: int = 0  # fetched for the first time
    changed: int = 0  # fetched again, with other words
    unchanged: int = 0  # fetched again with the same words, or confirmed by a 304
    redirected: int = 0
    gone: int = 0  # 404, 410
    forbidden: int = 0  # by the host (401, 403, 451) or its robots.txt
    # kept out of the index: by the rules of the crawl, by noindex, or because of an unsupported type
    excluded: int = 0
    failed: int = 0  # requested, without a usable answer
    not_asked: int = 0  # not requested in this round, because their host fails

    @property
    def fetched(self) -> int:
        """The pages that can be searched now: new, changed and unchanged."""
        return self.new + self.changed + self.unchanged

    def __add__(self, other: PageCounts) -> PageCounts:
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return PageCounts(*map(sum, pairs))


def counters_of(entries: Iterable[FileEntry]) -> Counter[str]:
    """Return the summed counters of runs; only files of outcomes have them."""
    total: Counter[str] = Counter()
    for entry in entries:
        if entry.kind == OUTCOMES:
            total.update(entry.counters)
    return total


def page_counts(counters: Mapping[str, int]) -> PageCounts:
    """Return the results of pages, from the counters of their runs."""
    kinds = {name: sum(counters.get(kind, 0) for kind in kinds) for name, kinds in _KINDS.items()}
    failed = sum(failures(counters).values())
    return PageCounts(
        new=counters.get(NEW, 0),
        changed=counters.get(CHANGED, 0),
        unchanged=counters.get(UNCHANGED, 0),
        failed=failed,
        not_asked=max(0, counters.get(_FAILED, 0) - failed),
        **kinds,
    )


def failures(counters: Mapping[str, int]) -> dict[str, int]:
    """Return the number of failed pages by cause."""
    return {
        name.removeprefix(FAILED_WITH): number
        for name, number in counters.items()
        if name.startswith(FAILED_WITH)
    }


def received(counters: Mapping[str, int]) -> int:
    """Return the bytes that the hosts sent."""
    return counters.get(BYTES, 0)
