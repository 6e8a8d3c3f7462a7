"""How many requests a query to a remote store takes, and how many of them one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.search.answer.answer import answer
from crawlctl.pipeline.search.open import gathering
from crawlctl.pipeline.search.open.follower import FollowingSearcher
from crawlctl.pipeline.search.open.gathering import with_compound
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.state.snapshots import commit
from crawlctl.tests.pipeline.search.merged_index import in_layers, merged_files
from crawlctl.tests.pipeline.search.waves import WaveStore

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # each trip waits a quarter of a second for requests to come

COLD_TRIPS, WARM_TRIPS = 4, 2
COLD_REQUESTS = 20
OLDER_TRIPS = 9  # of a crawl without a compound file; one of them puts equal scores in order


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def crawl(partitions: int = 4, *, gathered: bool = True, layered: bool = False) -> WaveStore:
    """Return a store with a crawl of some partitions, merged in three rounds."""
    store = WaveStore()
    first, files = merged_files(store, partitions, rounds=3, count=12)
    files = in_layers(store, files) if layered else files
    committed = with_compound(store, first, tuple(files)) if gathered else files
    commit(store, first, files=committed, round_number=3)
    return store


@pytest.fixture
def large_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the compound file leave out all posting lists, as it does with those of large segments."""
    monkeypatch.setattr(gathering, "_TABLE_BYTES", gathering.MAX_BYTES)


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no lists be interleaved, as in crawls of earlier versions."""
    monkeypatch.setattr(gathering._Gathering, "_interleave", lambda *_: None)


def ask(store: WaveStore, text: str) -> tuple[int, list[str]]:
    """Answer a query as a new process would; return the number of matches and the pages shown."""
    store.count()
    query = parse(text)
    searcher = open_index(store, query=query)
    try:
        found = answer(searcher, query)
        return found.total, [page.url for page in found.pages]
    finally:
        searcher.close()


def requests(store: WaveStore) -> int:
    return sum(map(len, store.waves))


@pytest.mark.parametrize("partitions", [4, 16])
def test_a_first_query_takes_few_trips_whatever_the_partitions(partitions: int) -> None:
    store = crawl(partitions)
    assert ask(store, "red tree")[0] > 10
    assert len(store.waves) <= COLD_TRIPS
    assert requests(store) <= COLD_REQUESTS


@pytest.mark.parametrize("text", ["red tree", "numb*", "red numbr3"])
@pytest.mark.parametrize("is_large", [False, True])
def test_layers_of_the_dictionary_take_no_more_trips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, is_large: bool
) -> None:
    """Layers too large for the compound file are read at once: each costs requests, and no trip."""
    if is_large:
        monkeypatch.setattr(gathering, "MAX_DICTIONARY_BYTES", 0)
    answers, trips, asked = [], [], []
    for layered in (False, True):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / str(layered)))
        store = crawl(layered=layered)
        answers.append(ask(store, text))
        trips.append(len(store.waves))
        asked.append(requests(store))
    assert answers[0] == answers[1]
    assert trips[0] == trips[1] <= COLD_TRIPS + is_large
    assert asked[1] <= COLD_REQUESTS if is_large else asked[0]


@pytest.mark.usefixtures("large_segments")
@pytest.mark.parametrize("partitions", [4, 16])
def test_the_lists_of_a_word_in_all_large_segments_are_one_request(partitions: int) -> None:
    store = crawl(partitions)
    assert ask(store, "red tree round3")[0] > 10
    asked = [request.partition("/")[0] for wave in store.waves for request in wave]
    assert "/postings " not in " ".join(request for wave in store.waves for request in wave)
    assert 1 <= asked.count("interleaved") <= 3
    assert len(store.waves) <= COLD_TRIPS
    assert requests(store) <= COLD_REQUESTS
    assert ask(store, "page")[0] > 10
    assert len(store.waves) <= WARM_TRIPS


@pytest.mark.usefixtures("large_segments")
@pytest.mark.parametrize("text", ["red tree -number3", '"red tree"', "red tree", "title:page", "numb*"])
def test_answers_are_the_same_with_interleaved_lists_damaged_or_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    store = crawl()
    (name,) = (name for name in store.files if name.startswith("interleaved/"))
    sound = store.files[name]
    expected = ask(store, text)
    changed = bytes(byte ^ 255 for byte in sound)
    for number, damaged in enumerate((changed, sound[: len(sound) // 2], sound[:9], b"", None)):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / str(number)))
        store.files[name] = damaged or b""
        if damaged is None:
            del store.files[name]
        assert ask(store, text) == expected


@pytest.mark.usefixtures("large_segments", "apart")
def test_lists_of_large_segments_are_one_of_the_trips() -> None:
    store = crawl()
    assert ask(store, "red tree")[0] > 10
    assert any("/postings " in request for request in store.waves[2])
    assert len(store.waves) <= COLD_TRIPS
    assert requests(store) <= COLD_REQUESTS


@pytest.mark.usefixtures("large_segments")
def test_a_later_query_takes_two_trips() -> None:
    store = crawl()
    ask(store, "number3")
    assert ask(store, "red tree")[0] > 10
    assert len(store.waves) <= WARM_TRIPS


@pytest.mark.usefixtures("large_segments")
def test_a_later_query_of_the_same_process_takes_two_trips() -> None:
    store = crawl()
    following = FollowingSearcher(store)
    query = parse("red tree")
    store.count()
    found = following.ask(lambda searcher: answer(searcher, query), ahead=query)
    following.close()
    assert found.total > 10
    assert len(store.waves) <= WARM_TRIPS


def test_of_a_large_dictionary_words_and_names_are_one_trip_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "MAX_DICTIONARY_BYTES", 0)
    store = crawl()
    assert ask(store, "red tree number3")[0] > 0
    assert len(store.waves) <= COLD_TRIPS + 1
    assert ask(store, "red tree number4")[0] > 0
    assert len(store.waves) <= WARM_TRIPS + 1


@pytest.mark.parametrize("partitions", [4, 16])
def test_equal_scores_and_pages_that_lack_a_word_are_no_trip_of_their_own(partitions: int) -> None:
    store = crawl(partitions)
    assert ask(store, "red tree number3")[0] > 0
    assert len(store.waves) <= COLD_TRIPS
    assert requests(store) <= COLD_REQUESTS


def test_a_word_that_no_page_has_costs_no_more() -> None:
    store = crawl()
    assert ask(store, "red numbr3")[0] == 0
    assert len(store.waves) <= COLD_TRIPS
    assert requests(store) <= COLD_REQUESTS
    ask(store, "red numbr4")
    assert len(store.waves) <= WARM_TRIPS


def test_an_older_crawl_is_read_all_at_once_and_nothing_twice() -> None:
    store = crawl(gathered=False)
    assert ask(store, "red tree")[0] > 10
    assert len(store.waves) <= OLDER_TRIPS
    asked = [request for wave in store.waves for request in wave]
    assert len(asked) == len(set(asked))


def test_answers_are_the_same_without_the_compound_file_or_with_a_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = crawl()
    expected = ask(store, "red tree -number3")
    (name,) = (name for name in store.files if name.startswith("compound/"))
    sound = store.files[name]
    changed = bytearray(sound)
    changed[len(sound) // 2] ^= 1
    for number, damaged in enumerate((bytes(changed), sound[: len(sound) // 2], sound[:9], b"", None)):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / str(number)))
        store.files[name] = damaged or b""
        if damaged is None:
            del store.files[name]
        assert ask(store, "red tree -number3") == expected
