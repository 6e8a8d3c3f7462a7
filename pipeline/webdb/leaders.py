"""Which of the equal pages of a partition leads, that is, has its document in the index for all of them.

A fetch task cannot tell: it meets pages in an order that a slow host or a kill changes, and an earlier leader
may have changed without its knowing. So it indexes them all, and the merge decides when all that came of the
round is known:

    a live page of an earlier round that still says what it said keeps the lead;
    otherwise the page with the shortest URL takes it, of several the first in byte order.

The others become duplicates of the leader, and the index drops their documents. To know the live pages of
earlier rounds the old part is read once more than the merge would need, without being decoded: only entries
with a signature of this round are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.net.hosts import url_of_key
from crawlctl.pipeline.text.duplicates import SIGNATURE_BYTES
from crawlctl.pipeline.webdb.life import next_state
from crawlctl.pipeline.webdb.records import (
    LIVE,
    STATUS_BYTE,
    Kind,
    Outcome,
    Status,
    WebEntry,
    decode_entry,
    encode,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Set

    from crawlctl.pipeline.config.recrawl import RecrawlSettings
    from crawlctl.pipeline.formats.sequenceblocks import Block

# A signature lies at the same place in nearly all live entries, for their numbers have the usual lengths.
_TIME = 1 << 31
_SIGNATURE = b"\xff" * SIGNATURE_BYTES
_USUAL = encode(
    WebEntry(
        Status.FETCHED, _TIME, 0.5, 1, _TIME, _TIME, _TIME, _TIME, 1 << 17, code=200, signature=_SIGNATURE
    )
)
_HEAD = encode(_SIGNATURE)[:-SIGNATURE_BYTES]
_HEAD_PLACE = slice(_USUAL.index(_HEAD + _SIGNATURE), _USUAL.index(_SIGNATURE))
_PLACE = slice(_HEAD_PLACE.start, _HEAD_PLACE.stop + SIGNATURE_BYTES)
_LIVE = tuple(map(int, LIVE))


class Outcomes(Protocol):
    """Outcomes by WebDB key, sorted, that can be read several times; an iterator could not."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[tuple[bytes, Outcome]]: ...


def find_leaders(
    old: Iterable[Block], outcomes: Outcomes, *, now: int, settings: RecrawlSettings, name: str = "webdb"
) -> dict[bytes, bytes]:
    """Return the WebDB key of the leader by signature, for all signatures that more than one page has."""
    fetched, shared = _signatures(outcomes)
    if not fetched:
        return {}
    contest = _Contest(shared, now, settings)
    ahead = iter(outcomes)
    current = next(ahead, None)
    for key, entry in _equals(old, fetched, name):
        while current is not None and current[0] < key:
            contest.fetched(*current)
            current = next(ahead, None)
        heard = []
        while current is not None and current[0] == key:
            heard.append(current[1])
            current = next(ahead, None)
        contest.known(key, entry, heard)
    while current is not None:
        contest.fetched(*current)
        current = next(ahead, None)
    return contest.leaders()


def settle(
    outcomes: Iterable[tuple[bytes, Outcome]], leaders: Mapping[bytes, bytes]
) -> Iterator[tuple[bytes, Outcome]]:
    """Yield the outcomes, those of pages that another one leads as duplicates of it."""
    for key, outcome in outcomes:
        leader = leaders.get(outcome.signature, key)
        if leader == key or not _has_content(outcome):
            yield key, outcome
        else:
            yield key, replace(outcome, kind=Kind.DUPLICATE, canonical=url_of_key(leader))


def _has_content(outcome: Outcome) -> bool:
    # One that names another page in its place has none of its own; without words there is nothing to compare.
    return outcome.kind is Kind.FETCHED and outcome.signature != b""


def _signatures(outcomes: Outcomes) -> tuple[set[bytes], set[bytes]]:
    """Return the signatures of the pages that were fetched, and those that several have."""
    fetched: set[bytes] = set()
    shared: set[bytes] = set()
    for _, outcome in outcomes if len(outcomes) else ():
        if _has_content(outcome):
            (shared if outcome.signature in fetched else fetched).add(outcome.signature)
    return fetched, shared


def _equals(old: Iterable[Block], fetched: Set[bytes], name: str) -> Iterator[tuple[bytes, WebEntry]]:
    """Yield the live entries of a part that have one of the signatures."""
    wanted = {_HEAD + signature for signature in fetched}
    for block in old:
        try:
            places = [
                place
                for place, value in enumerate(block.values)
                if value[STATUS_BYTE] in _LIVE and (value[_PLACE] in wanted or value[_HEAD_PLACE] != _HEAD)
            ]
        except IndexError as err:
            raise CorruptFile(name, block.offset, "a value too short for a WebDB entry") from err
        for place in places:
            entry = decode_entry(block.values[place], name, block.offset)
            if entry.signature in fetched:
                yield block.keys[place], entry


class _Contest:
    """The best of the pages with each signature so far; `shared` are those that several outcomes have."""

    def __init__(self, shared: Set[bytes], now: int, settings: RecrawlSettings) -> None:
        self._shared = shared
        self._now = now
        self._settings = settings
        self._standing: dict[bytes, bytes] = {}
        self._newcomers: dict[bytes, bytes] = {}

    def known(self, key: bytes, entry: WebEntry, heard: list[Outcome]) -> None:
        """Take a live page of earlier rounds with what this one has told of it."""
        after = entry
        for outcome in sorted(heard, key=lambda outcome: outcome.fetched_at):
            after = next_state(after, outcome, self._now, self._settings, key)
        if not after.live or after.signature != entry.signature:
            for outcome in heard:
                self.fetched(key, outcome)
        elif after.signature in self._shared or not any(map(_has_content, heard)):
            # In all other cases it is itself the one page that was fetched with this signature.
            self._put(self._standing, after.signature, key)

    def fetched(self, key: bytes, outcome: Outcome) -> None:
        """Take a page that led nothing before."""
        if outcome.signature in self._shared and _has_content(outcome):
            self._put(self._newcomers, outcome.signature, key)

    def leaders(self) -> dict[bytes, bytes]:
        return self._newcomers | self._standing

    def _put(self, leaders: dict[bytes, bytes], signature: bytes, key: bytes) -> None:
        leaders[signature] = min(key, leaders.get(signature, key), key=_rank)


def _rank(key: bytes) -> tuple[int, bytes]:
    url = key[key.index(b" ") + 1 :]
    return len(url), url
