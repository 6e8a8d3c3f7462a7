"""Which of the equal pages of a partition leads, that is, has its document in the index for all of them.

The merge decides when all that came of a round is known (review.py):

    a live page of an earlier round that still says what it said keeps the lead;
    otherwise the page with the shortest URL takes it, of several the first in byte order.

The others become duplicates of the leader, and the index drops their documents. Pages that give way to one
that they name in their place (names.py) take no part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from crawlctl.pipeline.urls.hosts import url_in_key
from crawlctl.pipeline.webdb.records import Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Set


class Outcomes(Protocol):
    """Outcomes by WebDB key, sorted, that can be read several times; an iterator could not."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[tuple[bytes, Outcome]]: ...


def has_content(outcome: Outcome) -> bool:
    """Whether a page was fetched that can be compared; without words there is nothing to compare."""
    return outcome.kind is Kind.FETCHED and outcome.signature != b""


def signatures(outcomes: Outcomes) -> tuple[set[bytes], set[bytes], bool]:
    """Return the signatures of fetched pages, those that several pages share, and whether all were 304s."""
    fetched: set[bytes] = set()
    shared: set[bytes] = set()
    is_quiet = True
    for _, outcome in outcomes if len(outcomes) else ():
        is_quiet = is_quiet and outcome.kind is Kind.NOT_MODIFIED
        if has_content(outcome):
            (shared if outcome.signature in fetched else fetched).add(outcome.signature)
    return fetched, shared, is_quiet


class Contest:
    """The best of the pages with each signature so far.

    `fetched` are the signatures of this round, `shared` those that several of its pages have. Pages that name
    another one may yet give way to it, and so are kept apart until that is known.
    """

    def __init__(self, fetched: Set[bytes], shared: Set[bytes]) -> None:
        self._fetched = fetched
        self._shared = shared
        self._standing: dict[bytes, bytes] = {}
        self._newcomers: dict[bytes, bytes] = {}
        self._undecided: list[tuple[dict[bytes, bytes], bytes, bytes]] = []

    def standing(self, key: bytes, signature: bytes, *, is_fetched: bool, has_name: bool) -> None:
        """Take a live page of earlier rounds that still says what it said."""
        # One that was fetched, alone with its signature, leads itself.
        if signature in (self._shared if is_fetched else self._fetched):
            self._put(self._standing, signature, key, has_name)

    def newcomer(self, key: bytes, signature: bytes, *, has_name: bool) -> None:
        """Take a page that was fetched and led nothing before."""
        if signature in self._shared:
            self._put(self._newcomers, signature, key, has_name)

    def leaders(self, giving_way: Set[int]) -> dict[bytes, bytes]:
        """Return the key of the leader by signature; `giving_way` are hashes of the keys of pages that do."""
        for leaders, signature, key in self._undecided:
            if hash(key) not in giving_way:
                self._put(leaders, signature, key)
        return self._newcomers | self._standing

    def _put(self, leaders: dict[bytes, bytes], signature: bytes, key: bytes, wait: bool = False) -> None:
        if wait:
            self._undecided.append((leaders, signature, key))
        else:
            leaders[signature] = min(key, leaders.get(signature, key), key=_rank)


def _rank(key: bytes) -> tuple[int, bytes]:
    url = url_in_key(key)
    return len(url), url
