"""Decides what the outcomes of a round mean for other pages of the partition.

A fetch task cannot decide this: it fetches pages in an order that depends on slow hosts and kills, and does
not know the outcomes to come. So it indexes every page that it fetches, and the merge decides when all
outcomes of the round are known. To decide, it reads the old part one more time, together with the outcomes.
Most entries are not decoded: only duplicates, pages that name another page, and live pages with a signature
of this round.

The review decides three things:

1. Which of several equal pages becomes the leader (leaders.py).
2. Which pages give way to the page that they name in their place. That page must be able to lead them
   (canonicals.py).
3. Which duplicates have lost their leader (LEADER_LOST): it has left the index, or has other content now.
   Such a duplicate is due at once. Otherwise neither page would be found by this text until the next visit
   of the duplicate, perhaps in months.

The third question is asked for all duplicates, not only for those whose leader has an outcome in this round.
So nothing has to be remembered between rounds, and the first round repairs stores of older releases.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.urls.hosts import url_in_key, url_of_key, webdb_key
from crawlctl.pipeline.webdb.entries import first_entry
from crawlctl.pipeline.webdb.life import Verdict, next_state
from crawlctl.pipeline.webdb.merge.canonicals import Names, are_among
from crawlctl.pipeline.webdb.merge.leaders import LeaderChoice, has_content, signatures
from crawlctl.pipeline.webdb.packed import STATUS, plain_signature, signature_of
from crawlctl.pipeline.webdb.records import LIVE, Kind, Outcome, Status, WebEntry, decode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crawlctl.pipeline.config.settings import RecrawlSettings
    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.webdb.merge.canonicals import Hashes
    from crawlctl.pipeline.webdb.merge.leaders import Outcomes

_LIVE = tuple(map(int, LIVE))
_DUPLICATE = int(Status.DUPLICATE)

KeyOutcomes = tuple[bytes, list[Outcome]]


class Review(NamedTuple):
    """The decisions of a review.

    `leaders` has the key of the leader by signature, for signatures of several pages. `verdicts` has the
    verdict on a page by the hash of its key.
    """

    leaders: Mapping[bytes, bytes] = {}
    verdicts: Mapping[int, Verdict] = {}


def review(
    old: Iterable[Block], outcomes: Outcomes, *, now: int, settings: RecrawlSettings, name: str = "webdb"
) -> Review:
    """Compare a part with the outcomes of a round; if all outcomes are 304s, the part is not read."""
    fetched, shared, is_quiet = signatures(outcomes)
    if is_quiet:
        return Review()
    reviewer = _Reviewer(fetched, shared, now, settings, name)
    for block, found in side_by_side(old, outcomes):
        reviewer.take(block, found)
    return reviewer.result()


def side_by_side(
    old: Iterable[Block], outcomes: Iterable[tuple[bytes, Outcome]]
) -> Iterator[tuple[Block | None, list[KeyOutcomes]]]:
    """Yield each block with the outcomes up to its last key, and at the end the outcomes after all blocks."""
    groups = groupby(outcomes, key=itemgetter(0))
    ahead = next(groups, None)
    for block in old:
        found = []
        while ahead is not None and block.keys and ahead[0] <= block.keys[-1]:
            found.append((ahead[0], [outcome for _, outcome in ahead[1]]))
            ahead = next(groups, None)
        yield block, found
    while ahead is not None:
        yield None, [(ahead[0], [outcome for _, outcome in ahead[1]])]
        ahead = next(groups, None)


class _Reviewer:
    """The state of one review; pages are known by the hashes of their keys, as in canonicals.py."""

    def __init__(
        self, fetched: set[bytes], shared: set[bytes], now: int, settings: RecrawlSettings, name: str
    ) -> None:
        self._fetched_signatures = fetched
        self._choice = LeaderChoice(fetched, shared)
        self._now = now
        self._settings = settings
        self._part = name
        self._names = Names()
        self._live = array("q")  # pages that had a document with words before the round
        self._arrived: list[int] = []  # pages that got a document with words in this round
        self._ended: list[int] = []  # pages that lost their document with words in this round
        self._wordless: list[int] = []  # pages that have a document without words
        self._changed: list[int] = []  # pages whose content has changed
        self._followers = array("q")  # duplicates whose leader is the page they name as canonical
        self._led, self._leaders = array("q"), array("q")  # other duplicates and their leaders

    def take(self, block: Block | None, found: list[KeyOutcomes]) -> None:
        """Take the next rows of the part and the outcomes up to there, both in key order."""
        if block is None:
            for key, outcomes in found:
                self._take_outcomes(key, None, outcomes, 0)
            return
        rows = self._of_interest(block)
        for key, outcomes in found:
            row = bisect_left(block.keys, key)
            is_known = row < len(block.keys) and block.keys[row] == key
            if len(outcomes) > 1 or outcomes[0].kind is not Kind.NOT_MODIFIED:  # a 304 changes nothing
                rows[key] = (block.values[row] if is_known else None), outcomes
        for key in sorted(rows):
            value, outcomes = rows[key]
            if outcomes or value is None:
                self._take_outcomes(key, value, outcomes, block.offset)
            else:
                self._take_state(key, decode_entry(value, self._part, block.offset))

    def _of_interest(self, block: Block) -> dict[bytes, tuple[bytes | None, list[Outcome]]]:
        """Return the rows that have to be decoded, and remember all live pages."""
        fetched, nothing = self._fetched_signatures, list[Outcome]()
        rows: dict[bytes, tuple[bytes | None, list[Outcome]]] = {}
        live: list[int] = []
        try:
            for key, value in zip(block.keys, block.values, strict=True):
                status = value[STATUS]
                if status in _LIVE:
                    signature = plain_signature(value)
                    if signature is None or signature in fetched:
                        rows[key] = value, nothing
                    if signature is not None or self._has_words(value, block.offset):
                        live.append(hash(key))
                elif status == _DUPLICATE:
                    rows[key] = value, nothing
        except IndexError as err:
            raise CorruptFile(self._part, block.offset, "a value too short for a WebDB entry") from err
        self._live.extend(live)
        return rows

    def _has_words(self, value: bytes, offset: int) -> bool:
        return signature_of(value) is not None or decode_entry(value, self._part, offset).has_words

    def _take_outcomes(self, key: bytes, value: bytes | None, outcomes: list[Outcome], offset: int) -> None:
        """Take a page that has outcomes in this round."""
        outcome = outcomes[0]
        was_live = value is not None and value[STATUS] in _LIVE
        if len(outcomes) > 1:
            self._work_out(key, value, outcomes, offset)
        elif outcome.kind is Kind.FETCHED:
            had_words = is_same = False
            signature = signature_of(value) if was_live and value is not None else None
            if signature is not None:
                had_words, is_same = True, signature == outcome.signature
            elif was_live and value is not None:
                entry = decode_entry(value, self._part, offset)
                had_words, is_same = entry.has_words, entry.signature == outcome.signature
            self._fetched(key, outcome.signature, outcome.named, had_words=had_words, is_same=is_same)
        elif was_live or (value is not None and value[STATUS] == _DUPLICATE):
            self._work_out(key, value, outcomes, offset)

    def _work_out(self, key: bytes, value: bytes | None, outcomes: list[Outcome], offset: int) -> None:
        """Take a page by applying its outcomes to its entry."""
        outcomes = sorted(outcomes, key=attrgetter("fetched_at"))
        entry = (
            first_entry(outcomes[0], self._now) if value is None else decode_entry(value, self._part, offset)
        )
        after = entry
        for outcome in outcomes:
            after = next_state(after, outcome, self._now, self._settings, key)
        if after.live and any(map(has_content, outcomes)):
            is_same = entry.live and after.signature == entry.signature
            had_words = entry.live and entry.has_words
            self._fetched(key, after.signature, after.named, had_words=had_words, is_same=is_same)
            return
        if entry.live and entry.has_words and not (after.live and after.has_words):
            self._ended.append(hash(key))
        self._take_state(key, after)

    def _fetched(self, key: bytes, signature: bytes, named: str, *, had_words: bool, is_same: bool) -> None:
        """Take a page that has a document now; `had_words` says whether it had one with words before."""
        page, has_words = hash(key), signature != b""
        if not has_words:
            self._wordless.append(page)
        if has_words and not had_words:
            self._arrived.append(page)
        elif had_words and not has_words:
            self._ended.append(page)
        if had_words and not is_same:
            self._changed.append(page)
        if named:
            self._add_name(key, named, has_document=True, has_words=has_words)
        if is_same:
            self._choice.add_unchanged(key, signature, is_fetched=True, has_name=bool(named))
        else:
            self._choice.add_new(key, signature, has_name=bool(named))

    def _take_state(self, key: bytes, entry: WebEntry) -> None:
        """Take a page in its present state, if it is live or a duplicate."""
        if entry.live:
            self._choice.add_unchanged(key, entry.signature, is_fetched=False, has_name=bool(entry.named))
            if not entry.has_words:
                self._wordless.append(hash(key))
        elif entry.status is not Status.DUPLICATE:
            return
        names = entry.names
        if names:
            self._add_name(key, names, has_document=entry.live, has_words=entry.has_words)
        if entry.live or not entry.canonical:
            return
        if entry.canonical == names:
            self._followers.append(hash(key))
        else:
            self._led.append(hash(key))
            self._leaders.append(hash(webdb_key(entry.canonical)))

    def _add_name(self, key: bytes, named: str, *, has_document: bool, has_words: bool) -> None:
        length, named_page = len(url_in_key(key)), hash(webdb_key(named))
        self._names.add(hash(key), named_page, length, has_document=has_document, has_words=has_words)

    def result(self) -> Review:
        """Return the leaders and verdicts after the last row and outcome."""
        if not self._names and not self._led:
            return Review(self._choice.leaders(frozenset()))
        live = self._live_now()
        giving_way, staying = self._names.divided(live, np.sort(_hashes(self._wordless)))
        followers = np.sort(_hashes(self._followers))
        verdicts = dict.fromkeys(self._without_leader(live, giving_way), Verdict.LEADER_LOST)
        verdicts |= dict.fromkeys(staying[are_among(staying, followers)].tolist(), Verdict.LEADER_LOST)
        news = giving_way[~are_among(giving_way, followers)].tolist()
        verdicts |= dict.fromkeys(news, Verdict.GIVES_WAY)
        return Review(self._choice.leaders(frozenset(giving_way.tolist())), verdicts)

    def _live_now(self) -> Hashes:
        """Return the pages that have a document with words after this round, sorted."""
        live = np.sort(_hashes(self._live))
        live = live[~are_among(live, np.sort(_hashes(self._ended)))]
        return np.sort(np.concatenate([live, _hashes(self._arrived)]))

    def _without_leader(self, live: Hashes, giving_way: Hashes) -> list[int]:
        """Return the duplicates whose leader is not in the index, or has other content."""
        lost = np.sort(np.concatenate([giving_way, _hashes(self._changed)]))
        leaders = _hashes(self._leaders)
        has_leader = are_among(leaders, live) & ~are_among(leaders, lost)
        alone: list[int] = _hashes(self._led)[~has_leader].tolist()
        return alone


def settle(outcomes: Iterable[tuple[bytes, Outcome]], reviewed: Review) -> Iterator[tuple[bytes, Outcome]]:
    """Yield the outcomes; a page with an equal page as its leader gets the outcome of a duplicate."""
    leaders, verdicts = reviewed
    for key, outcome in outcomes:
        leader = leaders.get(outcome.signature, key)
        if leader == key or not has_content(outcome) or verdicts.get(hash(key)) is Verdict.GIVES_WAY:
            yield key, outcome
        else:
            yield key, replace(outcome, kind=Kind.DUPLICATE, canonical=url_of_key(leader))


def _hashes(gathered: array[int] | list[int]) -> Hashes:
    return np.array(gathered, np.int64)
