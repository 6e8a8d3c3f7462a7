"""What a round means for a page by what became of other pages.

A fetch task cannot tell: it meets pages in an order that a slow host or a kill changes, and knows nothing of
what becomes of other pages. So it indexes all it fetches, and the merge decides when all that came of the
round is known. The old part is read once more than the merge would need, side by side with the outcomes, and
most of it is not decoded: only duplicates, pages that name another one, and live pages with a signature of
this round.

Three things come of it:

    of equal pages one leads (leaders.py);
    a page gives way to the one that it names in its place while that one can stand for it (names.py);
    a duplicate whose leader has left the index, or says something else now, has nobody to stand for it
    (LEFT_ALONE). It falls due at once; otherwise their common text would be in no result until its next
    visit, which may be months away.

The last is looked up for all duplicates and not only for leaders of this round, so that nothing has to be
remembered, and stores that older releases have written are put right by the first round.
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
from crawlctl.pipeline.webdb.merge.leaders import Contest, has_content, signatures
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

Heard = tuple[bytes, list[Outcome]]


class Review(NamedTuple):
    """The leaders by signature, where several pages have it, and the verdicts by the hash of the key."""

    leaders: Mapping[bytes, bytes] = {}
    verdicts: Mapping[int, Verdict] = {}


def review(
    old: Iterable[Block], outcomes: Outcomes, *, now: int, settings: RecrawlSettings, name: str = "webdb"
) -> Review:
    """Look at a part and at the outcomes of a round; where these end no page and bring none, at nothing."""
    fetched, shared, is_quiet = signatures(outcomes)
    if is_quiet:
        return Review()
    reviewer = _Reviewer(fetched, shared, now, settings, name)
    for block, heard in side_by_side(old, outcomes):
        reviewer.take(block, heard)
    return reviewer.result()


def side_by_side(
    old: Iterable[Block], outcomes: Iterable[tuple[bytes, Outcome]]
) -> Iterator[tuple[Block | None, list[Heard]]]:
    """Yield each block with the outcomes up to its last key, by key, and then those behind the last block."""
    groups = groupby(outcomes, key=itemgetter(0))
    ahead = next(groups, None)
    for block in old:
        heard = []
        while ahead is not None and block.keys and ahead[0] <= block.keys[-1]:
            heard.append((ahead[0], [outcome for _, outcome in ahead[1]]))
            ahead = next(groups, None)
        yield block, heard
    while ahead is not None:
        yield None, [(ahead[0], [outcome for _, outcome in ahead[1]])]
        ahead = next(groups, None)


class _Reviewer:
    """What was gathered so far; pages are known by the hashes of their keys, as in names.py."""

    def __init__(
        self, fetched: set[bytes], shared: set[bytes], now: int, settings: RecrawlSettings, name: str
    ) -> None:
        self._fetched_signatures = fetched
        self._contest = Contest(fetched, shared)
        self._now = now
        self._settings = settings
        self._part = name
        self._names = Names()
        self._live = array("q")  # had a document with words before the round
        self._arrived: list[int] = []  # have one since this round
        self._ended: list[int] = []  # had one
        self._wordless: list[int] = []  # have a document without words
        self._changed: list[int] = []  # say something else
        self._followers = array("q")  # duplicates of the page that they name
        self._led, self._leaders = array("q"), array("q")  # other duplicates, and of which page they are

    def take(self, block: Block | None, heard: list[Heard]) -> None:
        """Take the next rows of the part and what was heard up to there, both in key order."""
        if block is None:
            for key, outcomes in heard:
                self._hear(key, None, outcomes, 0)
            return
        rows = self._of_interest(block)
        for key, outcomes in heard:
            place = bisect_left(block.keys, key)
            is_known = place < len(block.keys) and block.keys[place] == key
            if len(outcomes) > 1 or outcomes[0].kind is not Kind.NOT_MODIFIED:  # a 304 leaves all as it was
                rows[key] = (block.values[place] if is_known else None), outcomes
        for key in sorted(rows):
            value, outcomes = rows[key]
            if outcomes or value is None:
                self._hear(key, value, outcomes, block.offset)
            else:
                self._see(key, decode_entry(value, self._part, block.offset))

    def _of_interest(self, block: Block) -> dict[bytes, tuple[bytes | None, list[Outcome]]]:
        """Return the rows that have to be decoded, and take note of all that are live."""
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

    def _hear(self, key: bytes, value: bytes | None, outcomes: list[Outcome], offset: int) -> None:
        """Take a page that was fetched, or asked for in vain."""
        outcome = outcomes[0]
        was_live = value is not None and value[STATUS] in _LIVE
        if len(outcomes) > 1:
            self._work_out(key, value, outcomes, offset)
        elif outcome.kind is Kind.FETCHED:
            stood = is_same = False
            signature = signature_of(value) if was_live and value is not None else None
            if signature is not None:
                stood, is_same = True, signature == outcome.signature
            elif was_live and value is not None:
                entry = decode_entry(value, self._part, offset)
                stood, is_same = entry.has_words, entry.signature == outcome.signature
            self._fetched(key, outcome.signature, outcome.named, stood=stood, is_same=is_same)
        elif was_live or (value is not None and value[STATUS] == _DUPLICATE):
            self._work_out(key, value, outcomes, offset)

    def _work_out(self, key: bytes, value: bytes | None, outcomes: list[Outcome], offset: int) -> None:
        """Take a page by applying to its entry what was heard of it."""
        outcomes = sorted(outcomes, key=attrgetter("fetched_at"))
        entry = (
            first_entry(outcomes[0], self._now) if value is None else decode_entry(value, self._part, offset)
        )
        after = entry
        for outcome in outcomes:
            after = next_state(after, outcome, self._now, self._settings, key)
        if after.live and any(map(has_content, outcomes)):
            is_same = entry.live and after.signature == entry.signature
            stood = entry.live and entry.has_words
            self._fetched(key, after.signature, after.named, stood=stood, is_same=is_same)
            return
        if entry.live and entry.has_words and not (after.live and after.has_words):
            self._ended.append(hash(key))
        self._see(key, after)

    def _fetched(self, key: bytes, signature: bytes, named: str, *, stood: bool, is_same: bool) -> None:
        """Take a page that has a document now; `stood` says whether it had one with words before."""
        page, has_words = hash(key), signature != b""
        if not has_words:
            self._wordless.append(page)
        if has_words and not stood:
            self._arrived.append(page)
        elif stood and not has_words:
            self._ended.append(page)
        if stood and not is_same:
            self._changed.append(page)
        if named:
            self._name(key, named, has_document=True, has_words=has_words)
        if is_same:
            self._contest.standing(key, signature, is_fetched=True, has_name=bool(named))
        else:
            self._contest.newcomer(key, signature, has_name=bool(named))

    def _see(self, key: bytes, entry: WebEntry) -> None:
        """Take a page as it stands, unless others play no part in it."""
        if entry.live:
            self._contest.standing(key, entry.signature, is_fetched=False, has_name=bool(entry.named))
            if not entry.has_words:
                self._wordless.append(hash(key))
        elif entry.status is not Status.DUPLICATE:
            return
        names = entry.names
        if names:
            self._name(key, names, has_document=entry.live, has_words=entry.has_words)
        if entry.live or not entry.canonical:
            return
        if entry.canonical == names:
            self._followers.append(hash(key))
        else:
            self._led.append(hash(key))
            self._leaders.append(hash(webdb_key(entry.canonical)))

    def _name(self, key: bytes, named: str, *, has_document: bool, has_words: bool) -> None:
        length, named_page = len(url_in_key(key)), hash(webdb_key(named))
        self._names.add(hash(key), named_page, length, has_document=has_document, has_words=has_words)

    def result(self) -> Review:
        """Return what all that was taken comes to."""
        if not self._names and not self._led:
            return Review(self._contest.leaders(frozenset()))
        live = self._live_now()
        giving_way, staying = self._names.sorted_out(live, np.sort(_hashes(self._wordless)))
        followers = np.sort(_hashes(self._followers))
        verdicts = dict.fromkeys(self._led_by_nobody(live, giving_way), Verdict.LEFT_ALONE)
        verdicts |= dict.fromkeys(staying[are_among(staying, followers)].tolist(), Verdict.LEFT_ALONE)
        news = giving_way[~are_among(giving_way, followers)].tolist()
        verdicts |= dict.fromkeys(news, Verdict.GIVES_WAY)
        return Review(self._contest.leaders(frozenset(giving_way.tolist())), verdicts)

    def _live_now(self) -> Hashes:
        """Return the pages that have a document with words after this round, sorted."""
        live = np.sort(_hashes(self._live))
        live = live[~are_among(live, np.sort(_hashes(self._ended)))]
        return np.sort(np.concatenate([live, _hashes(self._arrived)]))

    def _led_by_nobody(self, live: Hashes, giving_way: Hashes) -> list[int]:
        """Return the duplicates whose leader is not in the index, or not with the content they have."""
        lost = np.sort(np.concatenate([giving_way, _hashes(self._changed)]))
        leaders = _hashes(self._leaders)
        stands = are_among(leaders, live) & ~are_among(leaders, lost)
        alone: list[int] = _hashes(self._led)[~stands].tolist()
        return alone


def settle(outcomes: Iterable[tuple[bytes, Outcome]], reviewed: Review) -> Iterator[tuple[bytes, Outcome]]:
    """Yield the outcomes, those of pages that an equal one leads as duplicates of it."""
    leaders, verdicts = reviewed
    for key, outcome in outcomes:
        leader = leaders.get(outcome.signature, key)
        if leader == key or not has_content(outcome) or verdicts.get(hash(key)) is Verdict.GIVES_WAY:
            yield key, outcome
        else:
            yield key, replace(outcome, kind=Kind.DUPLICATE, canonical=url_of_key(leader))


def _hashes(gathered: array[int] | list[int]) -> Hashes:
    return np.array(gathered, np.int64)
