"""Chooses the leader of equal pages of a partition.

The leader is the page whose document is in the index for all of them.

The merge decides when all outcomes of a round are known (review.py):

    a live page of an earlier round whose content has not changed stays the leader; otherwise the page with
    the shortest URL becomes the leader; of equally short URLs, the first in byte order.

The other pages become duplicates of the leader, and the index drops their documents. Pages that give way to a
page that they name in their place (canonicals.py) cannot become leaders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from crawlctl.pipeline.urls.hosts import url_in_key
from crawlctl.pipeline.webdb.records import Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Set


class Outcomes(Protocol):
    """WebDB keys and outcomes, sorted by key, that can be read several times (unlike an iterator)."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[tuple[bytes, Outcome]]: ...


def has_content(outcome: Outcome) -> bool:
    """Return whether the page was fetched and has words: pages without words are not compared."""
    return outcome.kind is Kind.FETCHED and outcome.signature != b""


def signatures(outcomes: Outcomes) -> tuple[set[bytes], set[bytes], bool]:
    """Return the signatures of fetched pages, the signatures that pages share, and whether all were 304s."""
    fetched: set[bytes] = set()
    shared: set[bytes] = set()
    is_quiet = True
    for _, outcome in outcomes if len(outcomes) else ():
        is_quiet = is_quiet and outcome.kind is Kind.NOT_MODIFIED
        if has_content(outcome):
            (shared if outcome.signature in fetched else fetched).add(outcome.signature)
    return fetched, shared, is_quiet


class LeaderChoice:
    """The best page per signature so far, during one merge of a partition.

    `fetched` are the signatures of this round, `shared` the signatures that several of its pages have. A page
    that names another page may have to give way to it, and is kept apart until this is known.
    """

    def __init__(self, fetched: Set[bytes], shared: Set[bytes]) -> None:
        self._fetched = fetched
        self._shared = shared
        self._unchanged: dict[bytes, bytes] = {}
        self._newcomers: dict[bytes, bytes] = {}
        self._undecided: list[tuple[dict[bytes, bytes], bytes, bytes]] = []

    def add_unchanged(self, key: bytes, signature: bytes, *, is_fetched: bool, has_name: bool) -> None:
        """Take a live page of an earlier round whose content has not changed."""
        # A page that was fetched, and is the only one with its signature, needs no leader.
        if signature in (self._shared if is_fetched else self._fetched):
            self._put(self._unchanged, signature, key, has_name)

    def add_new(self, key: bytes, signature: bytes, *, has_name: bool) -> None:
        """Take a page that was fetched and did not have this content before."""
        if signature in self._shared:
            self._put(self._newcomers, signature, key, has_name)

    def leaders(self, giving_way: Set[int]) -> dict[bytes, bytes]:
        """Return the key of the leader per signature, without pages whose hash is in `giving_way`."""
        for leaders, signature, key in self._undecided:
            if hash(key) not in giving_way:
                self._put(leaders, signature, key)
        return self._newcomers | self._unchanged

    def _put(self, leaders: dict[bytes, bytes], signature: bytes, key: bytes, wait: bool = False) -> None:
        if wait:
            self._undecided.append((leaders, signature, key))
        else:
            leaders[signature] = min(key, leaders.get(signature, key), key=_rank)


def _rank(key: bytes) -> tuple[int, bytes]:
    url = url_in_key(key)
    return len(url), url
