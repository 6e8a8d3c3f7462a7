"""Merging changes no answer: random crawls, split into runs and rounds, against brute force."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import IndexSettings
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.merge import layer_policy
from crawlctl.pipeline.index.merge.dictionary_shards import write_all
from crawlctl.pipeline.index.merge.liveness import PageState
from crawlctl.pipeline.index.merge.order import IndexOrder, with_index
from crawlctl.pipeline.index.merge.partition import MergeTask, merge_partition
from crawlctl.pipeline.index.merge.task import write_ordered_shard
from crawlctl.pipeline.index.segment.dictionary import Dictionary
from crawlctl.pipeline.index.segment.dictionary_layers import layers_of
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.index.statistics import totals_of
from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.state.kinds import DICTIONARY
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.text.documents.page import STUFFED
from crawlctl.pipeline.urls.hosts import host_of, stable_hash
from crawlctl.tests.effort import examples
from crawlctl.tests.pipeline.search.answers import agreed_answers
from crawlctl.tests.pipeline.search.brute_force import BruteForce, Page
from crawlctl.tests.pipeline.search.memory_store import MemoryStore
from crawlctl.tests.pipeline.search.small_index import document_of
from crawlctl.tests.pipeline.search.strategies import HOSTS, pages, texts, trees

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.query import tree
    from crawlctl.pipeline.state.manifest import FileEntry

PARTITIONS = 2
FRONTIER = 100


@dataclass(frozen=True)
class Round:
    """The runs that are fetched, the pages that go, anchors that are found, and how it is merged."""

    runs: list[list[tuple[int, Page]]]
    gone: set[int]
    anchors: dict[int, tuple[str, ...]]
    full: bool
    max_documents: int


places = st.integers(0, 7)  # there are few pages, so that they are crawled again
rounds = st.builds(
    Round,
    st.lists(st.lists(st.tuples(places, pages), max_size=4), min_size=1, max_size=2),
    st.sets(places, max_size=2),
    st.dictionaries(places, st.lists(texts, min_size=1, max_size=2).map(tuple), max_size=2),
    st.booleans(),
    st.sampled_from([2, 1 << 20]),
)


class Crawl:
    """A crawl as it stands: the newest version of every page, and the files of the index."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.number = 0
        self.clock = 0
        self.pages: dict[int, Page] = {}
        self.anchors: dict[int, tuple[str, ...]] = {}
        self.files: dict[int, tuple[FileEntry, ...]] = dict.fromkeys(range(PARTITIONS), ())
        self.dictionary: tuple[FileEntry, ...] = ()

    def advance(self, this: Round) -> None:
        """Fetch, forget, and merge each partition."""
        self.number += 1
        before = set(self.pages)
        for run in this.runs:
            self.clock += 1
            # A run holds a page once.
            fetched = {place: self._version(place, page) for place, page in run}
            self.pages.update(fetched)
            before -= fetched.keys()
            for partition in range(PARTITIONS):
                self.files[partition] += self._run(partition, [fetched[place] for place in sorted(fetched)])
        for place in this.gone:
            self.pages.pop(place, None)
        # New anchors of a page that was indexed before are found once its segment is written again.
        self.anchors.update(
            (place, anchors) for place, anchors in this.anchors.items() if this.full or place not in before
        )
        totals = totals_of(entry for files in self.files.values() for entry in files)
        for partition in range(PARTITIONS):
            task = MergeTask(
                partition, self.number, IndexSettings(), totals, FRONTIER, this.full, this.max_documents
            )
            merged = merge_partition(self.store, task, self.files[partition], self._states(partition))
            self.files[partition] = merged.files
        self._write_layer(this.full)

    def _write_layer(self, full: bool) -> None:
        files = self.all_files()
        totals = totals_of(files)
        order = IndexOrder(
            store=self.store.uri,
            round=self.number,
            documents=totals.documents,
            words=totals.words,
            languages=totals.languages,
            frontier=FRONTIER,
            shards=3,
            index=IndexSettings(),
            staying=(),
            layers=() if full else self.dictionary,
        )
        written = [
            entry for shard in range(3) for entry in write_ordered_shard(self.store, order, shard, files)
        ]
        after = with_index(self.dictionary, range(PARTITIONS), (*files, *written))
        self.dictionary = tuple(entry for entry in after if entry.kind == DICTIONARY)

    def all_files(self) -> list[FileEntry]:
        return [entry for part in self.files.values() for entry in part]

    def index(self) -> Searcher | None:
        """Return the index, None where there is nothing in it."""
        if not self.dictionary:
            return None
        files = (*self.all_files(), *self.dictionary)
        snapshot = commit(self.store, create_crawl(self.store, PARTITIONS), files=files, round_number=1)
        return open_index(self.store, snapshot, cached=False)

    def expected(self, index: Searcher) -> list[Page]:
        """Return the pages that can be found; those not fetched are in the language the index gave them."""
        records = {record.url: record for record in index.records(range(index.reader.size))}
        unfetched = [
            Page(
                url, anchors=anchors, language=records[url].language if url in records else "", fetched=False
            )
            for place, anchors in self.anchors.items()
            if place not in self.pages and (url := url_of(place))
        ]
        return [
            *(replace(page, anchors=self.anchors.get(place, ())) for place, page in self.pages.items()),
            *unfetched,
        ]

    def _version(self, place: int, page: Page) -> Page:
        return replace(page, url=url_of(place), fetched_at=self.clock, dead=False, anchors=())

    def _run(self, partition: int, fetched: list[Page]) -> tuple[FileEntry, ...]:
        builder = RunBuilder()
        for page in fetched:
            if partition_of(page.url) == partition:
                builder.add(document_of(page))
        return builder.write(self.store, partition=partition, round_number=self.number)

    def _states(self, partition: int) -> list[PageState]:
        urls = {place: url_of(place) for place in self.pages.keys() | self.anchors.keys()}
        return sorted(
            PageState(f"{host_of(url)} {url}".encode(), place in self.pages, self.anchors.get(place, ()))
            for place, url in urls.items()
            if partition_of(url) == partition
        )


def url_of(place: int) -> str:
    return f"http://{HOSTS[place % len(HOSTS)]}/running/{place}"


def partition_of(url: str) -> int:
    return sorted(HOSTS).index(host_of(url)) % PARTITIONS


@pytest.fixture(autouse=True, scope="module")
def _layers_of_a_few_terms() -> Iterator[None]:
    """Let the dictionary have several layers although it is small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layer_policy, "SMALL_LAYER", 4)
        yield


@settings(max_examples=examples(12), deadline=None)
@given(st.lists(rounds, min_size=1, max_size=8))
def test_layers_of_the_dictionary_say_what_one_written_at_once_says(history: list[Round]) -> None:
    crawl = Crawl()
    for this in history:
        crawl.advance(this)
        files = crawl.all_files()
        live = [segment.name for segment in segments_of(files)]
        layered = Dictionary(crawl.store, crawl.dictionary, live)
        at_once = Dictionary(crawl.store, write_all(crawl.store, files, crawl.number))
        assert layered.segments == at_once.segments == live
        assert list(layered.range()) == (terms := list(at_once.range()))
        assert [layered.find(term) for term, _ in terms] == [infos for _, infos in terms]
        assert list(layered.range(b"h", b"s")) == list(at_once.range(b"h", b"s"))
        assert len(layers_of(crawl.dictionary)) <= layer_policy.MAX_LAYERS


@settings(max_examples=examples(12), deadline=None)
@given(st.lists(rounds, min_size=1, max_size=4), st.lists(trees, min_size=1, max_size=6))
def test_the_answers_are_those_of_a_search_through_the_surviving_texts(
    history: list[Round], nodes: list[tree.Node]
) -> None:
    crawl = Crawl()
    for this in history:
        crawl.advance(this)
    index = crawl.index()
    if index is None:
        assert not crawl.pages and not crawl.anchors
        return
    languages = Counter[str]()
    for segment in index.reader.segments:
        languages.update(segment.languages)
    reference = BruteForce(crawl.expected(index), languages)
    assert index.documents == len(reference.pages)
    for node in nodes:
        assert agreed_answers(index, node) == reference.find(node)
    index.close()


def partitioned(made: list[Page], partitions: int) -> Searcher:
    """Return the index of some pages in this number of partitions, merged as a crawl does it."""
    store = MemoryStore()
    runs: dict[int, tuple[FileEntry, ...]] = {}
    states: dict[int, list[PageState]] = {}
    for partition in range(partitions):
        own = [page for page in made if stable_hash(host_of(page.url)) % partitions == partition]
        builder = RunBuilder()
        for page in own:
            builder.add(document_of(page))
        runs[partition] = builder.write(store, partition=partition, round_number=1)
        states[partition] = sorted(PageState(" ".join(page.key).encode(), True, ()) for page in own)
    totals = totals_of(entry for files in runs.values() for entry in files)
    merged: list[FileEntry] = []
    for partition, files in runs.items():
        task = MergeTask(partition, 1, IndexSettings(), totals, 0)
        merged += merge_partition(store, task, files, states[partition]).files
    files_of_all = (*merged, *write_all(store, merged, 1))
    snapshot = commit(store, create_crawl(store, partitions), files=files_of_all, round_number=1)
    return open_index(store, snapshot, cached=False)


@pytest.mark.parametrize("query", ["run", "run haus", "site:example run", "type:pdf", "*"])
def test_the_order_of_equal_scores_is_the_same_in_any_number_of_partitions(query: str) -> None:
    made = [
        Page(f"http://h{n % 9}.example/{n}", text="run" if n % 3 else "haus", kind="pdf" if n % 2 else "html")
        for n in range(60)
    ]
    found = []
    for partitions in (1, 2, 5):
        index = partitioned(made, partitions)
        found.append([find(index, parse(query), SearchOptions(7, start)).hits for start in (0, 7)])
        index.close()
    assert found[0] == found[1] == found[2]
    assert len(found[0][0]) == 7


def test_an_index_of_names_comes_behind_the_page_about_a_name_though_it_says_it_more_often() -> None:
    made = [
        Page("http://h.example/genindex.html", title="Index", text="orc and orc and orc again"),
        Page("http://h.example/frames.html", title="Frames", text="a frame reads orc from a file"),
        *(Page(f"http://h.example/{number}", title="Other", text="a tree") for number in range(12)),
    ]
    index = partitioned(made, 1)
    first, second = find(index, parse("orc"), SearchOptions(explain=True)).hits
    index.close()
    assert (first.url, second.url) == (made[1].url, made[0].url)
    explained = [hit.explanation for hit in (first, second)]
    parts = [part for one in explained if one for part in one.parts if part.label == "quality"]
    assert len(parts) == 2 and parts[0].score > 5 * parts[1].score
    assert parts[0].reason.endswith("/255: few words")
    assert parts[1].reason.endswith("/255: an index of names or a search form, few words")


def test_a_stuffed_page_comes_behind_an_honest_one_and_the_explanation_says_why() -> None:
    made = [
        Page("http://h.example/stuffed", title="Orc orc orc orc", text="orc " * 30, signs=STUFFED),
        Page("http://h.example/frames", title="Frames", text=f"a frame reads orc from a file {'word ' * 20}"),
        *(Page(f"http://h.example/{number}", title="Other", text="a tree") for number in range(12)),
    ]
    index = partitioned(made, 1)
    first, second = find(index, parse("orc"), SearchOptions(explain=True)).hits
    index.close()
    assert (first.url, second.url) == (made[1].url, made[0].url)
    explained = [hit.explanation for hit in (first, second)]
    reasons = [part.reason for one in explained if one for part in one.parts if part.label == "quality"]
    assert reasons[0] == "weight 3.00 × 254/255"
    assert reasons[1].endswith("/255: one word again and again")
