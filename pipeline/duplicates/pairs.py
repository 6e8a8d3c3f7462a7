"""Pairs of similar documents, and the groups they make.

A group is a star: its representative comes first by rank, then by the length of its URL, and every other
member is similar to it, not merely to another member. Chains of similar pairs would fold pages together that
have little in common.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.duplicates.rows import MEMBER, rows_in
from crawlctl.pipeline.text.grouping import Leaders

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

PAIR = np.dtype([("first", MEMBER), ("second", MEMBER)])

# One document of an index: partition, segment, ordinal.
Address = tuple[int, int, int]


class Grouped(NamedTuple):
    """A document in a group, which is named by the hash of its representative's URL."""

    address: Address
    group: int


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


def grouped(messages: Iterable[bytes]) -> list[Grouped]:
    """Return every document that is in a group, from the pairs of all shards, in the order of addresses.

    Documents come in the order of preference: one that no preferred one has taken represents those it leads.
    """
    pairs = np.unique(np.frombuffer(b"".join(messages), PAIR))
    members, ends = np.unique(np.concatenate([pairs["first"], pairs["second"]]), return_inverse=True)
    followers: defaultdict[int, list[int]] = defaultdict(list)
    for first, second in zip(*(half.tolist() for half in np.split(ends, 2)), strict=True):
        followers[first].append(second)
    leaders: dict[int, int] = {}
    for number in range(len(members)):
        taken = [other for other in followers[number] if other not in leaders]
        if number not in leaders and taken:
            leaders.update((other, number) for other in (number, *taken))
    hashes = members["hash"].tolist()
    return sorted(Grouped(_address(members[number]), hashes[leader]) for number, leader in leaders.items())


def _address(member: NDArray[np.void]) -> Address:
    return int(member["partition"]), int(member["segment"]), int(member["ordinal"])
