"""Whatever the order of rounds, merges and deletions: the index holds the words of the surviving texts."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import IndexSettings
from crawlctl.pipeline.index.fields import ANCHOR, INDEXED_FIELDS, OFFSET_BITS
from crawlctl.pipeline.index.merge import frontier, page_changes
from crawlctl.pipeline.index.merge.liveness import PageState
from crawlctl.pipeline.index.merge.page_changes import PageChanges
from crawlctl.pipeline.index.merge.partition import MergedPartition, MergeTask, merge_partition
from crawlctl.pipeline.index.runs.run_files import RUN_KINDS
from crawlctl.pipeline.index.segment.priors import read_priors, write_priors
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.index.segment.stored_links import encode_links
from crawlctl.pipeline.index.segment.tombstones import read_tombstones
from crawlctl.pipeline.index.statistics import summary_of, totals_of
from crawlctl.pipeline.state import layout
from crawlctl.pipeline.text.words.stems import STEM_MARK, is_form
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.tests.effort import examples
from crawlctl.tests.pipeline.index.merge.reading import (
    expected_postings,
    links_of,
    mask_of,
    opened,
    postings_of,
    records_of,
    without_anchors,
    write_run,
)
from crawlctl.tests.pipeline.search.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.local.store import LocalStore

URLS = [
    f"https://{host}/{path}"
    for host in ("a.example", "a.example:81", "b.example")
    for path in ("", "runs", "x/y", "Z%C3%BCrich")
]
BODY = INDEXED_FIELDS.index("body")
words = st.sampled_from(
    ["the", "running", "runs", "Straße", "naïve", "東京都", "read_csv", "runTheTest", "x" * 70]
)
texts = st.lists(words, max_size=6).map(" ".join)
anchors = st.lists(texts.filter(bool), max_size=3, unique=True).map(tuple)
documents = st.builds(
    Document,
    url=st.sampled_from(URLS),
    title=texts,
    headings=st.lists(texts, max_size=2).map(tuple),
    text=texts,
    language=st.sampled_from(["en", "fr", ""]),
    links=st.lists(st.tuples(st.sampled_from(URLS), st.just(""), st.booleans()), max_size=2).map(tuple),
)


class Round(NamedTuple):
    """What a round brings: runs, pages that are no longer live, and the anchors pages have from then on."""

    runs: list[list[Document]]
    gone: set[str]
    anchors: dict[str, tuple[str, ...]]


rounds = st.lists(
    st.builds(
        Round,
        st.lists(st.lists(documents, max_size=6, unique_by=lambda document: document.url), max_size=3),
        st.sets(st.sampled_from(URLS), max_size=3),
        st.dictionaries(st.sampled_from(URLS), anchors, max_size=4),
    ),
    max_size=5,
)


class Crawl:
    """A partition in a store, and what its index has to hold."""

    def __init__(self, store: Store, **chosen: object) -> None:
        self.store = store
        self.settings = replace(IndexSettings(), **chosen)
        self.files: tuple[FileEntry, ...] = ()
        self.newest: dict[str, Document] = {}
        self.live: set[str] = set()
        self.anchors: dict[str, tuple[str, ...]] = {}
        self.seen: dict[bytes, tuple[PageState | None, int]] = {}
        self.reads_all = False
        self.round = 0
        self.clock = 0

    def fetch(self, round_: Round) -> None:
        self.round += 1
        for run in round_.runs:
            self.clock += 1
            fetched = [replace(document, fetched_at=self.clock) for document in run]
            self.files += write_run(self.store, fetched, self.round)
            self.newest.update((document.url, document) for document in fetched)
            self.live.update(document.url for document in fetched)
        self.live -= round_.gone
        self.anchors.update(round_.anchors)

    def pages(self) -> list[PageState]:
        keys = sorted(map(webdb_key, {*self.live, *self.anchors}))
        pages = [PageState(key, False, (), float(len(key))) for key in keys]
        urls = [page.url.decode() for page in pages]
        return [
            page._replace(live=url in self.live, anchors=self.anchors.get(url, ()))
            for page, url in zip(pages, urls, strict=True)
            if url in self.live or url not in self.newest  # a page that is gone is not one to be fetched
        ]

    def merge(
        self, *, full: bool = False, frontier: int = 100, max_documents: int = 9, by_changes: bool = False
    ) -> MergedPartition:
        totals = totals_of(self.files)
        task = MergeTask(0, self.round, self.settings, totals, frontier, full, max_documents)
        changes = self.changes() if by_changes else None
        self.reads_all = False
        merged = merge_partition(self.store, task, self.files, self.read_pages(), changes)
        self.files = merged.files
        self.seen = self.states()
        return merged

    def read_pages(self) -> Iterator[PageState]:
        self.reads_all = True
        yield from self.pages()

    def states(self) -> dict[bytes, tuple[PageState | None, int]]:
        """Return the page of each key with the time of its last fetch: what a row of the WebDB tells."""
        fetched = {webdb_key(url): document.fetched_at for url, document in self.newest.items()}
        pages = {page.key: page for page in self.pages()}
        return {key: (pages.get(key), fetched.get(key, 0)) for key in {*pages, *fetched}}

    def changes(self) -> PageChanges:
        """Return what has changed since the last merge."""
        now = self.states()
        keys = sorted(key for key in {*now, *self.seen} if now.get(key) != self.seen.get(key))
        pages = {page.key: page for page in self.pages()}
        return PageChanges({key: pages.get(key) for key in keys}, pages.get, 100)

    def surviving(self) -> list[tuple[Document, tuple[str, ...]]]:
        return [(self.newest[url], self.anchors.get(url, ())) for url in self.live]


@settings(deadline=None, max_examples=examples(20))
@given(rounds, st.sampled_from([1.5, 2.0, 4.0]), st.sampled_from([0.2, 1.0]))
def test_an_index_holds_the_words_of_the_surviving_texts(
    happened: list[Round], ratio: float, stale: float
) -> None:
    crawl = Crawl(MemoryStore(), tier_ratio=ratio, max_stale=stale)
    for round_ in happened:
        crawl.fetch(round_)
        crawl.merge()
        assert not [entry for entry in crawl.files if entry.kind in RUN_KINDS]
        expected = expected_postings(crawl.surviving())
        assert without_anchors(postings_of(crawl.store, crawl.files)) == without_anchors(expected)
        check_documents(crawl)
    crawl.merge(full=True)
    assert postings_of(crawl.store, crawl.files) == expected_postings(crawl.surviving())
    check_documents(crawl)


@settings(deadline=None, max_examples=examples(20))
@given(rounds)
def test_no_word_stands_behind_the_end_of_its_field(happened: list[Round]) -> None:
    """A search numbers the words of all bodies, document after document, by the lengths of the bodies."""
    crawl = Crawl(MemoryStore(), tier_ratio=2.0, max_stale=0.2)
    for round_ in happened:
        crawl.fetch(round_)
        crawl.merge()
        for frontier_too in (False, True):
            check_places(crawl, frontier=frontier_too)


def check_places(crawl: Crawl, *, frontier: bool) -> None:
    """Compare the positions of all lists with the lengths of fields in the columns."""
    lengths = {
        record.url: [one.columns.number(field, ordinal) for field in INDEXED_FIELDS]
        for one in opened(crawl.store, crawl.files)
        if one.segment.frontier is frontier
        for ordinal, record in enumerate(one.records)
        if ordinal not in one.dead
    }
    for term, found in postings_of(crawl.store, crawl.files, frontier=frontier).items():
        for url, positions in found.items():
            if is_form(term):
                assert all(lengths[url][field] for field in fields_of_form(term, positions))
            elif not term.startswith(STEM_MARK):  # a keyword is no word
                assert all(inside(position, lengths[url]) for position in positions)


def fields_of_form(term: bytes, positions: list[int]) -> list[int]:
    """Return the fields that a word as it is written stands in: a bit each, or the first of anchors."""
    assert positions[-1] < 1 << ANCHOR or positions[-1] == ANCHOR << OFFSET_BITS
    return [field for field in range(len(INDEXED_FIELDS)) if mask_of(term, positions) >> field & 1]


def inside(position: int, lengths: list[int]) -> bool:
    """Return whether a position is in its field; only behind a body is no room for parts of names."""
    field, offset = position >> OFFSET_BITS, position & (1 << OFFSET_BITS) - 1
    return lengths[field] > 0 and (offset < lengths[field] or field != BODY)


def check_documents(crawl: Crawl) -> None:
    records = records_of(crawl.store, crawl.files)
    assert {url: record.text for url, record in records.items()} == {
        url: crawl.newest[url].text for url in crawl.live
    }
    links = links_of(crawl.store, crawl.files)
    assert {url: links[url] for url in crawl.live} == {
        url: encode_links(crawl.newest[url].links) for url in crawl.live
    }
    for one in opened(crawl.store, crawl.files):
        assert one.segment.documents <= 9 or one.segment.frontier
        if not one.segment.frontier:
            for ordinal in range(one.segment.documents):
                record = one.records[ordinal]
                assert one.columns.number("fetched", ordinal) == record.fetched_at
                assert one.columns.number("characters", ordinal) == len(record.url)


def page(url: str, text: str = "some words", **more: object) -> Document:
    return replace(Document(url, text=text, language="en"), **more)


def urls(documents: Iterable[Document]) -> list[str]:
    return [document.url for document in documents]


def test_pages_not_fetched_are_found_by_anchor_and_url(store: LocalStore) -> None:
    crawl = Crawl(store)
    crawl.fetch(Round([[page(URLS[0])]], set(), {URLS[1]: ("running shoes",), URLS[0]: ("home",)}))
    crawl.merge()
    crawl.merge()  # now it knows the language of most documents
    (record,) = records_of(store, crawl.files, frontier=True).values()
    assert (record.url, record.title, record.text, record.fetched_at) == (URLS[1], "running shoes", "", 0)
    found = postings_of(store, crawl.files, frontier=True)
    assert found[b"run\x01en"] == {URLS[1]: [3 << 20 | 2, 4 << 20]}
    assert found[b"shoe\x01en"] == {URLS[1]: [4 << 20 | 1]}
    (segment,) = [segment for segment in segments_of(crawl.files) if segment.frontier]
    assert opened(store, crawl.files)[0].columns.number("flags", 0) > 1
    assert segment.documents == 1


def test_of_many_unfetched_pages_the_best_are_kept(store: LocalStore) -> None:
    crawl = Crawl(store)
    crawl.fetch(Round([], set(), dict.fromkeys(URLS, ("name",))))
    crawl.merge(frontier=2)
    best = sorted(URLS, key=lambda url: -len(webdb_key(url)))[:2]
    assert sorted(records_of(store, crawl.files, frontier=True)) == sorted(best)
    crawl.merge(frontier=0)
    assert crawl.files == ()


def test_a_page_that_was_fetched_leaves_the_frontier(store: LocalStore) -> None:
    crawl = Crawl(store)
    crawl.fetch(Round([], set(), {URLS[1]: ("name",)}))
    crawl.merge()
    crawl.fetch(Round([[page(URLS[1])]], set(), {}))
    crawl.merge()
    assert records_of(store, crawl.files, frontier=True) == {}
    assert postings_of(store, crawl.files)[b"name\x01en"] == {URLS[1]: [4 << 20]}


def test_tombstones_hide_the_dead_of_segments_that_stay(store: LocalStore) -> None:
    crawl = Crawl(store, max_stale=1.0, max_drift=1.0)
    crawl.fetch(Round([[page(url) for url in URLS[:8]]], set(), {}))
    crawl.merge()
    (before,) = segments_of(crawl.files)
    crawl.fetch(Round([[page(URLS[8])]], {URLS[0]}, {URLS[1]: ("new name",)}))
    merged = crawl.merge()
    assert merged.written == 1
    assert before.name in {segment.name for segment in segments_of(crawl.files)}
    (entry,) = [entry for entry in crawl.files if entry.kind == "deleted"]
    assert entry.counters == {"dead": 1, "reanchored": 1}
    assert URLS[0] not in records_of(store, crawl.files)


def test_a_stale_segment_is_written_again(store: LocalStore) -> None:
    crawl = Crawl(store, max_stale=0.2)
    crawl.fetch(Round([[page(url) for url in URLS[:8]]], set(), {}))
    crawl.merge()
    crawl.fetch(Round([], {URLS[0], URLS[1]}, {}))
    crawl.merge()
    assert [segment.documents for segment in segments_of(crawl.files)] == [8]
    merged = crawl.merge()
    assert [segment.documents for segment in segments_of(crawl.files)] == [6]
    assert (merged.written, merged.left_out) == (6, 2)


def test_impacts_follow_the_lengths_of_the_whole_index(store: LocalStore) -> None:
    crawl = Crawl(store)
    crawl.fetch(Round([[page(url, "word " * 5) for url in URLS[:8]]], set(), {}))
    crawl.merge()
    (before,) = segments_of(crawl.files)
    assert before.averages[0] == pytest.approx(5)
    crawl.fetch(Round([[page(URLS[8], "word " * 500)]], set(), {}))
    crawl.merge()
    crawl.merge()
    for segment in segments_of(crawl.files):
        assert segment.averages[0] == pytest.approx(60)


def test_the_newer_of_two_versions_of_one_second_is_that_indexed_later(store: LocalStore) -> None:
    crawl = Crawl(store, max_drift=1.0)
    crawl.fetch(Round([[page(url, "old") for url in URLS[:8]]], set(), {}))
    crawl.merge()
    crawl.clock = 0
    crawl.fetch(Round([[page(URLS[0], "new")]], set(), {}))
    crawl.merge()
    assert records_of(store, crawl.files)[URLS[0]].text == "new"


def test_priors_go_where_their_documents_go(store: LocalStore) -> None:
    crawl = Crawl(store, max_drift=1.0)
    crawl.fetch(Round([[page(url) for url in URLS[:8]]], set(), {}))
    crawl.merge()
    (segment,) = segments_of(crawl.files)
    crawl.files += write_priors(store, {segment.name: bytes(range(10, 18))}, partition=0, round_number=1)
    before = priors_of(crawl)
    crawl.fetch(Round([[page(URLS[0], "changed"), page(URLS[8])]], set(), {}))
    crawl.merge()
    after = priors_of(crawl)
    assert after == before | {URLS[8]: 11}, "a page without a rank has the prior of a page that ranks low"
    crawl.merge(full=True)
    assert priors_of(crawl) == after


def priors_of(crawl: Crawl) -> dict[str, int]:
    reader = read_priors(crawl.store, crawl.files)[0]
    found = {}
    for one in opened(crawl.store, crawl.files):
        data = reader.of(one.segment.name) or b""
        found.update({one.records[o].url: byte for o, byte in enumerate(data) if o not in one.dead})
    return found


def test_a_partition_without_anything_has_no_files(store: LocalStore) -> None:
    crawl = Crawl(store)
    assert crawl.merge() == MergedPartition((), 0, 0)


def test_a_group_whose_documents_are_all_dead_leaves_no_segment(store: LocalStore) -> None:
    crawl = Crawl(store)
    crawl.fetch(Round([[page(URLS[0])]], {URLS[0]}, {}))
    assert crawl.merge() == MergedPartition((), 0, 1)


NAMED: dict[str, tuple[str, ...]] = {
    f"https://a.example/{number}": (f"page {number}",) for number in range(20)
}


@pytest.fixture
def large_frontier(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> Crawl:
    """A crawl whose frontier of 20 pages counts as large."""
    monkeypatch.setattr(frontier, "SMALL_FRONTIER", 20)
    crawl = Crawl(store, max_drift=1.0)
    crawl.fetch(Round([[page(URLS[0])]], set(), NAMED))
    crawl.merge()
    return crawl


def frontier_of(crawl: Crawl) -> str:
    (segment,) = [segment for segment in segments_of(crawl.files) if segment.frontier]
    return segment.name


def test_a_frontier_that_has_changed_little_stays_without_the_pages_that_were_fetched(
    store: LocalStore, large_frontier: Crawl
) -> None:
    crawl, fetched = large_frontier, "https://a.example/3"
    before = frontier_of(crawl)
    found: dict[str, tuple[str, ...]] = {
        "https://a.example/new": ("a new page",),
        "https://a.example/4": ("another name",),
    }
    crawl.fetch(Round([[page(fetched)]], set(), found))
    crawl.merge()
    assert frontier_of(crawl) == before
    assert set(records_of(store, crawl.files, frontier=True)) == set(NAMED) - {fetched}
    assert fetched in records_of(store, crawl.files)
    assert summary_of(crawl.files)["documents"] == 2, "tombstones of the frontier are not of documents"


def test_a_frontier_that_has_changed_much_is_written_again(store: LocalStore, large_frontier: Crawl) -> None:
    crawl = large_frontier
    before = frontier_of(crawl)
    found: dict[str, tuple[str, ...]] = {
        f"https://a.example/new/{number}": ("a new page",) for number in range(5)
    }
    crawl.fetch(Round([], set(), found))
    crawl.merge()
    assert frontier_of(crawl) != before
    assert set(records_of(store, crawl.files, frontier=True)) == {*NAMED, *found}


def test_a_full_merge_writes_the_frontier_again(store: LocalStore, large_frontier: Crawl) -> None:
    before = frontier_of(large_frontier)
    large_frontier.fetch(Round([[page("https://a.example/3")]], set(), {}))
    large_frontier.merge(full=True)
    assert frontier_of(large_frontier) != before
    assert not read_tombstones(store, large_frontier.files)


def contents(crawl: Crawl) -> tuple[object, ...]:
    """Return what the index of a crawl says, whatever its files are called."""
    tombstones = read_tombstones(crawl.store, crawl.files)
    told = [
        (
            segment.frontier,
            sorted((file, entry.bytes, entry.counters) for file, entry in segment.entries.items()),
            replace(tombstones[segment.name], segment="") if segment.name in tombstones else None,
        )
        for segment in segments_of(crawl.files)
    ]
    return (
        sorted(told, key=str),
        *(postings_of(crawl.store, crawl.files, frontier=one) for one in (False, True)),
        *(records_of(crawl.store, crawl.files, frontier=one) for one in (False, True)),
    )


@settings(max_examples=examples(40), deadline=None)
@given(rounds, st.sampled_from([0, 100]), st.sampled_from([0, 1000]))
def test_a_merge_of_what_changed_writes_what_a_merge_of_all_pages_writes(
    history: list[Round], limit: int, small: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frontier, "SMALL_FRONTIER", small)
        patch.setattr(page_changes, "_READ_ALL", 0)
        attempts = count()  # segments of one size are merged in the order of their names
        patch.setattr(
            layout, "os", SimpleNamespace(urandom=lambda size: next(attempts).to_bytes(size, "big"))
        )
        crawls = [Crawl(MemoryStore()) for _ in range(2)]
        for round_ in history:
            for crawl in crawls:
                crawl.fetch(round_)
            merged = [
                crawl.merge(frontier=limit, by_changes=number > 0) for number, crawl in enumerate(crawls)
            ]
            assert merged[0].written == merged[1].written
            assert not crawls[1].reads_all or not small
            assert contents(crawls[0]) == contents(crawls[1])
