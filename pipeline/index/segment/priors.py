"""Priors: what the PageRank of its page adds to the score of a document, one byte per document.

One ranged side file per partition (side_file.py), with the priors of each segment by ordinal. 0 stands for a
page whose rank is not known.
"""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.fields import MAX_IMPACT
from crawlctl.pipeline.index.segment.side_file import RangedSideFile, write_ranged
from crawlctl.pipeline.state.kinds import PRIORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

MAX_PRIOR = MAX_IMPACT  # one byte; a query adds impacts and priors up

# Ranks as multiples of the average. An average page gets a prior in the lower half. A page of a thousand
# times the average rank has the highest prior: with higher priors, the front pages of a few hosts would come
# before pages that match the query better.
_LEAST, _MOST = 2.0**-5, 2.0**10


def prior_byte(rank_times_n: float) -> int:
    """Return the prior of a page, 1 to 255: the logarithm of its rank, given as a multiple of the average."""
    bounded = min(max(rank_times_n, _LEAST), _MOST)
    return 1 + round((MAX_PRIOR - 1) * (log2(bounded) - log2(_LEAST)) / (log2(_MOST) - log2(_LEAST)))


def write_priors(
    store: Store, priors: Mapping[str, bytes], *, partition: int, round_number: int
) -> tuple[FileEntry, ...]:
    """Write the priors of a partition, by the names of its segments; without any, write no file."""
    if not priors:
        return ()
    return (write_ranged(store, PRIORS, priors, partition=partition, round_number=round_number),)


def read_priors(store: Store, entries: Iterable[FileEntry]) -> dict[int, RangedSideFile]:
    """Return the priors in the files of a snapshot, by partition."""
    return {entry.partition: RangedSideFile(store, entry) for entry in entries if entry.kind == PRIORS}
