"""Two years of daily rounds over a small web whose pages change, vanish, return, move and fail."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from statistics import mean

import pytest

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.config.units import DAY, HOUR
from crawlctl.pipeline.formats.sequencefile.block_body import Block
from crawlctl.pipeline.webdb.merge.join import MergeCounts, part_changes
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, Status, WebEntry, decode_entry
from crawlctl.tests.pipeline.webdb.small_part import next_rows

START = 1_800_000_000
DAYS = 730
PAGES_OF_A_SORT = 20
POLICY = RecrawlSettings()


@dataclass(frozen=True)
class Spell:
    """Days on which a page answers in another way."""

    begin: int
    end: int
    kind: Kind
    code: int


@dataclass
class Page:
    """A page and its fate; `fetches` and `statuses` are written by the crawl."""

    changes: list[float]  # days
    spells: list[Spell] = field(default_factory=list)
    failing: float = 0.0  # the share of requests that fail
    fetches: list[int] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)  # whether the version in the index is the current one

    def version(self, day: int) -> bytes:
        return b"%d" % bisect_right(self.changes, day)

    def answer(self, day: int, when: int, known: WebEntry, random: Random) -> Outcome:
        if random.random() < self.failing:
            return Outcome(Kind.FAILED, when, code=503)
        for spell in self.spells:
            if spell.begin <= day < spell.end:
                return Outcome(spell.kind, when, code=spell.code, target="http://new.example/")
        version = self.version(day)
        if known.validators[0] == version.decode():
            return Outcome(Kind.NOT_MODIFIED, when, code=304)
        return Outcome(Kind.FETCHED, when, code=200, signature=version, etag=version.decode())


def poisson(random: Random, every: float) -> list[float]:
    days = [random.expovariate(1 / every)]
    while days[-1] < DAYS:
        days.append(days[-1] + random.expovariate(1 / every))
    return days


def population(random: Random) -> dict[str, list[Page]]:
    def pages(every: float, *spells: tuple[int, Kind, int], failing: float = 0.0) -> list[Page]:
        made = []
        for _ in range(PAGES_OF_A_SORT):
            begin = random.randrange(100, 300)
            fate = [Spell(begin, begin + length, kind, code) for length, kind, code in spells]
            made.append(Page(poisson(random, every), fate, failing))
        return made

    return {
        "daily": pages(1),
        "weekly": pages(7),
        "monthly": pages(30),
        "static": pages(10**9),
        "vanished": pages(10, (DAYS, Kind.GONE, 404)),
        "returning": pages(10, (random.randrange(60, 300), Kind.GONE, 404)),
        "blinking": pages(2, (1, Kind.GONE, 404)),
        "moved": pages(10, (DAYS, Kind.MOVED, 301)),
        "forbidden": pages(10, (100, Kind.FORBIDDEN, 403)),
        "down a week": pages(2, (7, Kind.FAILED, 0)),
        "down a month": pages(2, (30, Kind.FAILED, 0)),
        "flaky": pages(10, failing=0.2),
        "dead": pages(10, failing=1.0),
    }


class Crawl:
    """A WebDB part in memory, carried from day to day by the pass that the merge job makes."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.sorts = population(self.random)
        self.pages = {
            b"%d.example http://%d.example/%d" % (sort, sort, number): page
            for sort, pages in enumerate(self.sorts.values())
            for number, page in enumerate(pages)
        }
        self.table: dict[bytes, WebEntry] = {}
        self.block = Block(0, [], [])
        self.changes: list[tuple[bytes, Fresh]] = [(key, Fresh(START)) for key in sorted(self.pages)]
        self.merge([], START)

    def run(self) -> Crawl:
        for day in range(DAYS):
            self.day(day)
        return self

    def day(self, day: int) -> None:
        begin = START + day * DAY
        due = [(key, entry) for key, entry in sorted(self.table.items()) if entry.next_due <= begin]
        outcomes = []
        for number, (key, entry) in enumerate(due):
            self.pages[key].fetches.append(day)
            outcomes.append((key, self.pages[key].answer(day, begin + 20 * number, entry, self.random)))
        linked = sorted(self.random.sample(sorted(self.pages), 10))
        self.changes = [
            (key, Fresh(begin, depth=self.random.randrange(9), anchors=(str(day),))) for key in linked
        ]
        self.merge(outcomes, begin + 4 * HOUR)
        for key, page in self.pages.items():
            entry = self.table[key]
            page.statuses.append(entry.status)
            page.held.append(entry.live and entry.signature == page.version(day))

    def merge(self, outcomes: list[tuple[bytes, Outcome]], now: int) -> None:
        before = self.table
        blocks = [self.block] if self.block.keys else []
        changes = part_changes(blocks, self.changes, outcomes, now=now, settings=POLICY, counts=MergeCounts())
        rows = next_rows(blocks, changes)
        keys, values = [key for key, _ in rows], [value for _, value in rows]
        self.block = Block(0, keys, values)
        self.table = {key: decode_entry(value) for key, value in zip(keys, values, strict=True)}
        assert keys == sorted(self.pages), "nothing is lost"
        for key, entry in before.items():
            assert self.table[key].last_fetched >= entry.last_fetched
            assert self.table[key].first_seen == START
        for key, outcome in outcomes:
            assert self.table[key].next_due > outcome.fetched_at
            assert self.table[key].interval <= POLICY.rest_maximum


@pytest.fixture(scope="module", params=[1, 2])
def sorts(request: pytest.FixtureRequest) -> dict[str, list[Page]]:
    return Crawl(request.param).run().sorts


def visits(pages: list[Page]) -> float:
    return mean(len(page.fetches) for page in pages)


def test_pages_are_visited_as_often_as_they_change(sorts: dict[str, list[Page]]) -> None:
    assert visits(sorts["daily"]) > 3 * visits(sorts["weekly"]) > 6 * visits(sorts["monthly"])
    assert visits(sorts["monthly"]) > 1.5 * visits(sorts["static"])
    assert visits(sorts["static"]) <= 16
    assert visits(sorts["weekly"]) == pytest.approx(DAYS / 7, rel=0.3)


def test_the_index_holds_the_current_version_more_often_than_not(sorts: dict[str, list[Page]]) -> None:
    for sort, least in (("daily", 0.9), ("weekly", 0.55), ("monthly", 0.55), ("static", 1)):
        assert mean(mean(page.held) for page in sorts[sort]) >= least, sort


def test_all_of_it_costs_a_fraction_of_fetching_everything_daily(sorts: dict[str, list[Page]]) -> None:
    pages = [page for group in sorts.values() for page in group]
    assert sum(len(page.fetches) for page in pages) < 0.25 * DAYS * len(pages)


@pytest.mark.parametrize("sort", ["vanished", "moved", "forbidden"])
def test_a_page_at_rest_is_rarely_asked_for(sorts: dict[str, list[Page]], sort: str) -> None:
    for page in sorts[sort]:
        (spell,) = page.spells
        asked = sum(spell.begin <= day < spell.end for day in page.fetches)
        assert asked <= 10, "against some 500 rounds"


def test_a_vanished_page_leaves_the_index_once_seen_twice(sorts: dict[str, list[Page]]) -> None:
    for page in sorts["vanished"]:
        first, second = [day for day in page.fetches if day >= page.spells[0].begin][:2]
        assert second - first <= 2
        assert page.statuses[first] in (Status.FETCHED, Status.UNCHANGED)
        assert set(page.statuses[second:]) == {Status.GONE}


@pytest.mark.parametrize("sort", ["returning", "forbidden"])
def test_a_page_that_returns_is_found_in_half_the_time_it_was_away(
    sorts: dict[str, list[Page]], sort: str
) -> None:
    for page in sorts[sort]:
        (spell,) = page.spells
        found = next(day for day in range(spell.end, DAYS) if page.held[day])
        assert found - spell.end <= (spell.end - spell.begin) / 2 + 15


@pytest.mark.parametrize("sort", ["blinking", "down a week", "flaky"])
def test_a_short_trouble_takes_no_document_out(sorts: dict[str, list[Page]], sort: str) -> None:
    for page in sorts[sort]:
        first = page.statuses.index(Status.FETCHED)
        assert set(page.statuses[first:]) == {Status.FETCHED, Status.UNCHANGED}


def test_a_site_that_comes_back_after_a_month_is_found_within_the_second_rest(
    sorts: dict[str, list[Page]],
) -> None:
    for page in sorts["down a month"]:
        (spell,) = page.spells
        assert page.statuses[spell.end - 1] is Status.FAILED
        found = next(day for day in range(spell.end, DAYS) if page.statuses[day] is Status.FETCHED)
        assert found - spell.end <= 22


def test_failures_back_off(sorts: dict[str, list[Page]]) -> None:
    for page in sorts["dead"]:
        gaps = [after - before for before, after in pairwise(page.fetches)]
        assert gaps[:5] == sorted(gaps[:5])
        assert gaps[5:] == sorted(gaps[5:])
        assert gaps[-1] > 100
        assert page.statuses[page.fetches[POLICY.retry_limit - 1] :] == [Status.FAILED] * (
            DAYS - page.fetches[POLICY.retry_limit - 1]
        )
