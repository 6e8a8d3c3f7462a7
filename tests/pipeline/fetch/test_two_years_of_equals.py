"""Two years of daily rounds over pages that take over each other's words, lose them, vanish and return."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.config.recrawl import RecrawlSettings
from crawlctl.pipeline.config.values import DAY, HOUR
from crawlctl.pipeline.fetch.conditions import Conditions
from crawlctl.pipeline.fetch.selection import Due
from crawlctl.pipeline.formats.sequenceblocks import Block
from crawlctl.pipeline.net.hosts import webdb_key
from crawlctl.pipeline.webdb.join import MergeCounts, merge_part
from crawlctl.pipeline.webdb.leaders import find_leaders, settle
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, Status, WebEntry, decode_entry

if TYPE_CHECKING:
    from collections.abc import Iterator

START = 1_800_000_000
DAYS, QUIET = 730, 400  # from this day on nothing changes
POLICY = RecrawlSettings()
TEXTS = [bytes([letter]) * 16 for letter in b"abcd"]
GONE, NOINDEX = "gone", "noindex"


@dataclass(frozen=True)
class Phase:
    """What a page says from a day on: a text of 16 bytes, with words around it, or none."""

    since: float
    text: bytes
    trouble: str


def life_of_a_page(random: Random) -> list[Phase]:
    """Texts of which there are few, so that pages are often equal, and now and then nothing."""
    phases = [Phase(0, random.choice(TEXTS), "")]
    while phases[-1].since < QUIET:
        trouble = random.choice(["", "", "", "", GONE, NOINDEX])
        phases.append(Phase(phases[-1].since + random.expovariate(1 / 60), random.choice(TEXTS), trouble))
    return [phase for phase in phases if phase.since < QUIET]


class Crawl:
    """A WebDB part in memory, and the documents that the index has of it."""

    name = "webdb"

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        urls = [f"http://{host}.example/{'x' * number}" for host in "ab" for number in range(8)]
        self.pages = {webdb_key(url): life_of_a_page(random) for url in urls}
        self.random = random
        self.values: dict[bytes, bytes] = {}
        self.indexed: dict[bytes, bytes] = {}
        self.merge([(key, Fresh(START)) for key in sorted(self.pages)], [], START)

    def get(self, key: bytes) -> bytes | None:
        return self.values.get(key)

    def table(self) -> dict[bytes, WebEntry]:
        return {key: decode_entry(value) for key, value in self.values.items()}

    def phase(self, key: bytes, day: int) -> Phase:
        return [phase for phase in self.pages[key] if phase.since <= day][-1]

    def answer(self, phase: Phase, when: int, validators: tuple[str, str]) -> Outcome:
        if self.random.random() < 0.05:
            return Outcome(Kind.FAILED, when, code=503)
        if phase.trouble == GONE:
            return Outcome(Kind.GONE, when, code=self.random.choice([404, 410]))
        etag = f"{phase.text!r} {phase.trouble}"
        if validators[0] == etag:
            return Outcome(Kind.NOT_MODIFIED, when, code=304)
        kind = Kind.NOINDEX if phase.trouble else Kind.FETCHED
        return Outcome(kind, when, 200, phase.text, etag)

    def day(self, day: int) -> dict[bytes, Outcome]:
        """Fetch what is due in any order, and merge; return what came of it."""
        begin = START + day * DAY
        entries = self.table()
        due = [
            Due(0, 0, 0, key, self.values[key]) for key, entry in entries.items() if entry.next_due <= begin
        ]
        conditions = Conditions(self, due, lambda _: True)  # type: ignore[arg-type]  # rows: all it asks for
        self.random.shuffle(due)
        heard = {
            one.key: self.answer(
                self.phase(one.key, day), begin + place, conditions.validators(entries[one.key])
            )
            for place, one in enumerate(due)
        }
        self.merge([], sorted(heard.items()), begin + HOUR)
        return heard

    def merge(self, fresh: list[tuple[bytes, Fresh]], heard: list[tuple[bytes, Outcome]], now: int) -> None:
        keys = sorted(self.values)
        blocks = [Block(0, keys, [self.values[key] for key in keys])] if keys else []
        outcomes = settle(heard, find_leaders(blocks, heard, now=now, settings=POLICY))
        rows = merge_part(blocks, fresh, outcomes, now=now, settings=POLICY, counts=MergeCounts())
        self.values = {key: value for part in rows for key, value in zip(*part, strict=True)}
        documents = {key: outcome.signature for key, outcome in heard if outcome.kind is Kind.FETCHED}
        live = {key for key, entry in self.table().items() if entry.live}
        self.indexed = {key: text for key, text in (self.indexed | documents).items() if key in live}


@pytest.fixture(params=range(4))
def crawl(request: pytest.FixtureRequest) -> Crawl:
    return Crawl(request.param)


def days(crawl: Crawl) -> Iterator[tuple[int, dict[bytes, WebEntry], dict[bytes, Outcome]]]:
    """Yield each day with the entries before it and what came of it."""
    for day in range(DAYS):
        before = crawl.table()
        yield day, before, crawl.day(day)


def is_led(table: dict[bytes, WebEntry], entry: WebEntry) -> bool:
    leader = table.get(webdb_key(entry.canonical)) if entry.canonical else None
    return leader is not None and leader.live and leader.signature == entry.signature


def test_every_visit_leaves_what_a_page_says_in_the_index(crawl: Crawl) -> None:
    orphans = 0
    for day, before, heard in days(crawl):
        table = crawl.table()
        assert crawl.indexed == {key: entry.signature for key, entry in table.items() if entry.live}
        for key, outcome in heard.items():
            entry, phase = table[key], crawl.phase(key, day)
            if outcome.kind not in (Kind.FETCHED, Kind.NOT_MODIFIED) or phase.trouble:
                continue
            assert entry.signature == phase.text
            if entry.status is Status.DUPLICATE and not is_led(table, entry):
                # Its leader has changed on the very day; the next visit will find that out.
                assert outcome.kind is Kind.NOT_MODIFIED and is_led(before, before[key])
                orphans += 1
            elif entry.status is not Status.DUPLICATE:
                assert entry.live and crawl.indexed[key] == phase.text
    assert set(table) == set(crawl.pages), "no page is lost"
    assert orphans < 20


def test_when_all_is_quiet_nothing_is_lost_and_nothing_is_sent_again(crawl: Crawl) -> None:
    late: list[tuple[bytes, Outcome]] = []
    for day, _, heard in days(crawl):
        if day > QUIET + 250:  # all have been visited since, and those that came back twice
            late += heard.items()
    said = {phases[-1].text for phases in crawl.pages.values() if not phases[-1].trouble}
    assert set(crawl.indexed.values()) == said
    assert len(crawl.indexed) == len(said), "one page for each text"
    answered = {outcome.kind for _, outcome in late} - {Kind.FAILED, Kind.GONE}
    assert late and answered == {Kind.NOT_MODIFIED}
