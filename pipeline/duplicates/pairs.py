"""Pairs of similar documents, and the groups they make.

A group is a star: its representative comes first by rank, then by the length of its URL, and every other
member is similar to it, not merely to another member. Chains of similar pairs would fold pages together that
have little in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.duplicates.sketch_rows import MEMBER, rows_in
from crawlctl.pipeline.text.likeness.similar import Leaders

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.intp]

PAIR = np.dtype([("first", MEMBER), ("second", MEMBER)])

# A document in a group, which is named by the hash of its representative's URL.
GROUPED = np.dtype([("partition", "<u4"), ("segment", "<u4"), ("ordinal", "<u4"), ("group", "<u8")])


def pairs_of(messages: Sequence[bytes], threshold: float) -> bytes:
    """Return each document of a shard that is similar to a preferred one, with that one, packed.

    A document is compared only with those that are like no other so far, and joins the one it is most like:
    a site that fills one template a hundred thousand times costs a comparison a page and yields a pair a
    page, where all similar pairs would be billions.
    """
    rows = rows_in(messages)
    leaders = Leaders(threshold)
    found = [leaders.leader_of(number, row.tobytes()) for number, row in enumerate(rows["sketch"])]
    firsts = np.array(found, np.intp)
    seconds = np.flatnonzero(firsts != np.arange(len(rows)))
    firsts = firsts[seconds]
    pairs = np.zeros(len(seconds), PAIR)
    pairs["first"], pairs["second"] = rows["member"][firsts], rows["member"][seconds]
    return pairs.tobytes()


def grouped(messages: Iterable[bytes]) -> NDArray[np.void]:
    """Return every document that is in a group, from the pairs of all shards, in the order of addresses.

    Documents come in the order of preference: one that no preferred one has taken represents those it leads.
    So one is taken if it is paired with a preferred one that is not; the pairs settle from the preferred end,
    all those at once whose first is settled, and chains of them are short, since shards yield stars.

    All pairs are in memory here, in one task, and that is the bound of the job. A document is paired only if
    it is similar to another, and once a shard at most. Where a fifth of all are, each in four shards, a
    million documents make 40 MB of pairs, and this took 1 CPU-second and .2 GB; ten million make 400 MB, and
    it took 15 CPU-seconds and 1.3 GB. Beyond some tens of millions the last task needs a larger machine.
    """
    pairs = np.frombuffer(b"".join(messages), PAIR)
    members, firsts, seconds = _numbered(pairs)
    is_free = _settle(firsts, seconds, len(members))
    # Of those that may take a document the first does.
    taking = is_free[firsts]
    order = np.lexsort((firsts[taking], seconds[taking]))
    firsts, seconds = firsts[taking][order], seconds[taking][order]
    taken = np.flatnonzero(np.diff(seconds, prepend=-1))
    leaders = np.full(len(members), -1)
    leaders[seconds[taken]] = leaders[firsts[taken]] = firsts[taken]
    found = np.flatnonzero(leaders >= 0)
    return _in_order(members, found, leaders[found])


def _numbered(pairs: NDArray[np.void]) -> tuple[NDArray[np.void], Numbers, Numbers]:
    """Return the documents in pairs in the order of preference, and the two of each pair by their places."""
    hashes = np.concatenate([pairs["first"]["hash"], pairs["second"]["hash"]])
    _, index, ends = np.unique(hashes, return_index=True, return_inverse=True)
    members = np.concatenate([pairs["first"], pairs["second"]])[index]
    preference = np.lexsort((members["hash"], members["characters"], members["demerit"]))
    place = np.empty(len(members), np.intp)
    place[preference] = np.arange(len(members))
    firsts, seconds = np.split(place[ends], 2)
    return members[preference], firsts, seconds


def _settle(firsts: Numbers, seconds: Numbers, count: int) -> NDArray[np.bool_]:
    """Return which documents no preferred one takes."""
    is_settled, is_free = np.zeros(count, np.bool_), np.ones(count, np.bool_)
    while not is_settled.all():
        is_free[seconds[is_settled[firsts] & is_free[firsts]]] = False
        waits = np.zeros(count, np.bool_)
        waits[seconds[~is_settled[firsts]]] = True
        is_settled |= ~is_free | ~waits
        open_still = ~is_settled[seconds]
        firsts, seconds = firsts[open_still], seconds[open_still]
    return is_free


def _in_order(members: NDArray[np.void], found: Numbers, leaders: Numbers) -> NDArray[np.void]:
    rows = np.zeros(len(found), GROUPED)
    for name in ("partition", "segment", "ordinal"):
        rows[name] = members[name][found]
    rows["group"] = members["hash"][leaders]
    return rows[np.lexsort((rows["ordinal"], rows["segment"], rows["partition"]))]
