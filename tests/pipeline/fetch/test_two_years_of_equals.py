"""Two years of daily rounds over pages that take over each other's words, lose them, vanish and return.

They name each other in their place, too: pages that are gone or were never there, that redirect back, that
name the first one, or that come back to life.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.config.units import DAY, HOUR
from crawlctl.pipeline.fetch.select.selection import Due
from crawlctl.pipeline.fetch.select.validators import Validators
from crawlctl.pipeline.formats.sequencefile.block_body import Block
from crawlctl.pipeline.urls.hosts import url_of_key, webdb_key
from crawlctl.pipeline.webdb.merge.join import MergeCounts, part_changes
from crawlctl.pipeline.webdb.merge.review import review, settle
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, Status, WebEntry, decode_entry, encode
from crawlctl.tests.pipeline.webdb.small_part import next_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

START = 1_800_000_000
DAYS, QUIET = 730, 400  # from this day on nothing changes
POLICY = RecrawlSettings()
TEXTS = [bytes([letter]) * 16 for letter in b"abcd"]
GONE, NOINDEX, MOVED = "gone", "noindex", "moved"
URLS = [f"http://{host}.example/{'x' * number}" for host in "ab" for number in range(8)]
NOWHERE = "http://a.example/never-there"


@dataclass(frozen=True)
class Phase:
    """What a page says from a day on: a text of 16 bytes, with words around it, or none.

    `elsewhere` is the page that it names in its place, or that it redirects to if it has moved.
    """

    since: float
    text: bytes
    trouble: str
    elsewhere: str


def life_of_a_page(random: Random, url: str) -> list[Phase]:
    """Texts of which there are few, so that pages are often equal, and now and then nothing."""
    others = [NOWHERE, *(other for other in URLS if other != url)]
    phases: list[Phase] = []
    since = 0.0
    while since < QUIET:
        trouble = random.choice(["", "", "", "", GONE, NOINDEX, MOVED]) if phases else ""
        elsewhere = random.choice(others) if trouble == MOVED or random.random() < 0.4 else ""
        phases.append(Phase(since, random.choice(TEXTS), trouble, elsewhere))
        since += random.expovariate(1 / 60)
    return phases


class Crawl:
    """A WebDB part in memory, and the documents that the index has of it."""

    name = "webdb"

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.pages = {webdb_key(url): life_of_a_page(random, url) for url in URLS}
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
        if phase.trouble == MOVED:
            return Outcome(Kind.FOUND, when, code=302, target=phase.elsewhere)
        etag = f"{phase.text!r} {phase.trouble} {phase.elsewhere}"
        if validators[0] == etag:
            return Outcome(Kind.NOT_MODIFIED, when, code=304)
        if phase.trouble:
            return Outcome(Kind.NOINDEX, when, 200, phase.text, etag)
        return Outcome(Kind.FETCHED, when, 200, phase.text, etag, named=phase.elsewhere)

    def day(self, day: int) -> dict[bytes, Outcome]:
        """Fetch what is due in any order, and merge; return what came of it."""
        begin = START + day * DAY
        entries = self.table()
        due = [
            Due(0, 0, 0, key, self.values[key]) for key, entry in entries.items() if entry.next_due <= begin
        ]
        validators = Validators(self, due)  # type: ignore[arg-type]  # rows: all it asks for
        self.random.shuffle(due)
        heard = {
            one.key: self.answer(self.phase(one.key, day), begin + place, validators.of(entries[one.key]))
            for place, one in enumerate(due)
        }
        self.merge([], sorted(heard.items()), begin + HOUR)
        return heard

    def merge(self, fresh: list[tuple[bytes, Fresh]], heard: list[tuple[bytes, Outcome]], now: int) -> None:
        keys = sorted(self.values)
        blocks = [Block(0, keys, [self.values[key] for key in keys])] if keys else []
        reviewed = review(blocks, heard, now=now, settings=POLICY)
        changes = part_changes(
            blocks,
            fresh,
            settle(heard, reviewed),
            now=now,
            settings=POLICY,
            counts=MergeCounts(),
            verdicts=reviewed.verdicts,
        )
        self.values = dict(next_rows(blocks, changes))
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


def is_led(table: dict[bytes, WebEntry], key: bytes) -> bool:
    """Whether a live page stands for a duplicate: has its content, or lies at the end of the names."""
    entry = table[key]
    leader = table.get(webdb_key(entry.canonical)) if entry.canonical else None
    if leader is None or leader.live:
        equal = leader is not None and leader.signature == entry.signature
        return leader is not None and (equal or entry.canonical == entry.named)
    is_duplicate = leader.status is Status.DUPLICATE and entry.canonical == entry.named
    return is_duplicate and is_led(table, webdb_key(entry.canonical))


def test_every_visit_leaves_what_a_page_says_in_the_index(crawl: Crawl) -> None:
    for day, _, heard in days(crawl):
        table = crawl.table()
        assert crawl.indexed == {key: entry.signature for key, entry in table.items() if entry.live}
        for key, outcome in heard.items():
            entry, phase = table[key], crawl.phase(key, day)
            if outcome.kind not in (Kind.FETCHED, Kind.NOT_MODIFIED) or phase.trouble:
                continue
            assert (entry.signature, entry.named) == (phase.text, phase.elsewhere)
            if entry.status is not Status.DUPLICATE:
                assert entry.live and crawl.indexed[key] == phase.text
            elif outcome.kind is Kind.FETCHED:
                assert is_led(table, key)
    assert set(table) == set(crawl.pages), "no page is lost"


def test_a_duplicate_that_nobody_stands_for_is_fetched_whole_in_the_next_round(crawl: Crawl) -> None:
    alone: set[bytes] = set()
    came_back = 0
    for day, before, heard in days(crawl):
        table = crawl.table()
        for key in alone:
            assert key in heard and heard[key].kind is not Kind.NOT_MODIFIED
            came_back += table[key].live
        now = START + day * DAY + HOUR
        alone = {
            key
            for key, entry in table.items()
            if entry.status is Status.DUPLICATE and not entry.tries and not is_led(table, key)
        }
        assert all(table[key].next_due <= now for key in alone)
        assert not any(before[key].live for key in alone), "nobody loses a document for having lost a leader"
    assert came_back > 2


def test_the_order_of_fetching_and_the_cuts_between_runs_change_nothing(crawl: Crawl) -> None:
    for day, before, heard in days(crawl):
        if day % 10 or not heard:
            continue
        reached, values = crawl.table(), crawl.values
        crawl.values = {key: encode(entry) for key, entry in before.items()}
        times = sorted(outcome.fetched_at for outcome in heard.values())
        crawl.random.shuffle(times)
        other = {
            key: replace(outcome, fetched_at=when)
            for (key, outcome), when in zip(heard.items(), times, strict=True)
        }
        crawl.merge([], sorted(other.items()), START + day * DAY + HOUR)
        again = crawl.table()
        for key, entry in reached.items():
            assert (entry.status, entry.canonical, entry.named, entry.etag) == (
                again[key].status,
                again[key].canonical,
                again[key].named,
                again[key].etag,
            ), url_of_key(key)
        crawl.values = values


def test_when_all_is_quiet_nothing_is_lost_and_nothing_is_sent_again(crawl: Crawl) -> None:
    late: list[tuple[bytes, Outcome]] = []
    for day, _, heard in days(crawl):
        if day > QUIET + 250:  # all have been visited since, and those that came back twice
            late += heard.items()
    table = crawl.table()
    well = {key for key, phases in crawl.pages.items() if not phases[-1].trouble}
    assert all(table[key].live or is_led(table, key) for key in well)
    assert {key for key, entry in table.items() if entry.live} <= well
    assert len(set(crawl.indexed.values())) == len(crawl.indexed), "one page for each text"
    answered = {outcome.kind for _, outcome in late} - {Kind.FAILED, Kind.GONE, Kind.FOUND, Kind.NOINDEX}
    assert late and answered == {Kind.NOT_MODIFIED}
