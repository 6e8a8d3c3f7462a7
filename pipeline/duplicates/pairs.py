"""Finds pairs of similar documents, and joins the pairs to duplicate groups.

A group is a star: every member is similar to the leader, not only to another member. Chains of similar pairs
would put pages into one group that have little in common. A leader stays one as long as it is there and its
text stays. Of the other documents the one with the highest rank leads, then the one with the shortest URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.duplicates.sketch_rows import MEMBER, rows_in
from crawlctl.pipeline.text.likeness.similar import Leaders

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.intp]

PAIR = np.dtype([("first", MEMBER), ("second", MEMBER)])

# A document in a group; the group is known by the hash of the URL of its leader.
GROUPED = np.dtype([("partition", "<u4"), ("segment", "<u4"), ("ordinal", "<u4"), ("group", "<u8")])


def pairs_of(messages: Sequence[bytes], threshold: float) -> bytes:
    """Return packed pairs: each is a document of a shard and the preferred document that it resembles.

    A document is compared only with documents that were not similar to an earlier one, and is paired with the
    most similar of them. So a site with 100,000 pages of one template needs one comparison per page and
    yields one pair per page, while there are billions of similar pairs.
    """
    rows = rows_in(messages)
    leaders = Leaders(threshold)
    firsts = np.arange(len(rows))
    joins = rows["member"]["joins"]
    for number in np.flatnonzero(_share_a_key(rows["sketch"]["keys"])).tolist():
        sketch = rows["sketch"][number].tobytes()
        if joins[number]:
            firsts[number] = leaders.leader_of(number, sketch)
        else:
            leaders.add(number, sketch)
    seconds = np.flatnonzero(firsts != np.arange(len(rows)))
    firsts = firsts[seconds]
    pairs = np.zeros(len(seconds), PAIR)
    pairs["first"], pairs["second"] = rows["member"][firsts], rows["member"][seconds]
    return pairs.tobytes()


def _share_a_key(keys: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return for each document whether another one has an equal key in the same column of its sketch.

    Most documents share no key with another document. So they are similar to none and need no comparison.
    """
    shared = np.zeros(len(keys), np.bool_)
    for column in keys.T:
        order = np.argsort(column, kind="stable")
        equal = np.flatnonzero(np.diff(column[order]) == 0)
        shared[order[equal]] = shared[order[equal + 1]] = True
    return shared


def grouped(messages: Iterable[bytes]) -> NDArray[np.void]:
    """Return the documents of the pairs that are in a group, by partition, segment, ordinal.

    The pairs are those of all shards.

    Of each pair the first document is preferred. It takes the second one into its group, unless it was itself
    taken into a group; a document that takes others leads their group. So a pair can be decided once it
    is known whether its first document was taken. Each step decides all such pairs. The first step begins
    with the most preferred document, which no other document can take. There are few steps, because the pairs
    of a shard form stars.

    All pairs are in the memory of one task, which limits the job. A document is in a pair only if it is
    similar to another document, and at most once per shard. If a fifth of all documents are in pairs, each in
    four shards, a million documents make 40 MB of pairs, which took 1 CPU-second and 0.2 GB; ten million make
    400 MB, which took 15 CPU-seconds and 1.3 GB. Above some tens of millions this task needs a larger
    machine.
    """
    pairs = np.frombuffer(b"".join(messages), PAIR)
    members, firsts, seconds = _numbered(pairs)
    is_free = _settle(firsts, seconds, len(members))
    # If several may take a document, the most preferred one does.
    taking = is_free[firsts]
    order = np.lexsort((firsts[taking], seconds[taking]))
    firsts, seconds = firsts[taking][order], seconds[taking][order]
    taken = np.flatnonzero(np.diff(seconds, prepend=-1))
    leaders = np.full(len(members), -1)
    leaders[seconds[taken]] = leaders[firsts[taken]] = firsts[taken]
    found = np.flatnonzero(leaders >= 0)
    return _in_order(members, found, leaders[found])


def by_partition(found: NDArray[np.void]) -> Iterator[tuple[int, bytes]]:
    """Yield each partition with its documents, packed."""
    for partition in np.unique(found["partition"]).tolist():
        yield partition, found[found["partition"] == partition].tobytes()


def _numbered(pairs: NDArray[np.void]) -> tuple[NDArray[np.void], Numbers, Numbers]:
    """Return the documents in the order of preference, and the positions of both documents of each pair."""
    hashes = np.concatenate([pairs["first"]["hash"], pairs["second"]["hash"]])
    _, index, ends = np.unique(hashes, return_index=True, return_inverse=True)
    members = np.concatenate([pairs["first"], pairs["second"]])[index]
    preference = np.lexsort([members[name] for name in ("hash", "characters", "demerit", "joins")])
    position = np.empty(len(members), np.intp)
    position[preference] = np.arange(len(members))
    firsts, seconds = np.split(position[ends], 2)
    return members[preference], firsts, seconds


def _settle(firsts: Numbers, seconds: Numbers, count: int) -> NDArray[np.bool_]:
    """Return for each document whether no preferred document takes it."""
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
