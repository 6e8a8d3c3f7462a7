from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.fetch.loop.outlinks import URL_BYTES, FollowLimits, Outlinks
from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls, Origin
from crawlctl.pipeline.urls.hosts import host_in_key, url_of_key, webdb_key
from crawlctl.pipeline.webdb.records import Fresh, Status, decode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOM = 100 * URL_BYTES
DEEPEST = 5


def outlinks(
    fresh: DiscoveredUrls,
    *,
    hosts: Iterable[str] = ("a", "b"),
    memory: int = ROOM,
    per_host: int | None = None,
) -> Outlinks:
    return Outlinks(fresh, frozenset(hosts).__contains__, FollowLimits(DEEPEST, memory, per_host))


def find(fresh: DiscoveredUrls, links: Outlinks, url: str, *, score: float = 0.0, depth: int = 1) -> bytes:
    key = webdb_key(url)
    fresh.add(Origin("http://a/", 10, depth, score), b"a", [(key, "anchor")])
    links.add([key], depth)
    return key


def taken(links: Outlinks, host: bytes = b"a") -> list[str]:
    return [url_of_key(due.key) for due in links.best(host, 99)]


def test_the_best_url_comes_first_by_all_that_the_round_has_found_out() -> None:
    fresh = DiscoveredUrls()
    links = outlinks(fresh)
    find(fresh, links, "http://a/one", score=0.5)
    two = find(fresh, links, "http://a/two", score=0.3)
    fresh.clear()
    fresh.add(Origin("http://a/x", 11, 1, 0.3), b"a", [(two, "")])
    assert taken(links) == ["http://a/two", "http://a/one"]


def test_an_entry_is_what_the_merge_would_make_of_the_discovery() -> None:
    fresh = DiscoveredUrls()
    links = outlinks(fresh)
    key = find(fresh, links, "http://a/one", score=0.5, depth=3)
    fresh.date(key, 7)
    (due,) = links.best(b"a", 99)
    entry = decode_entry(due.value)
    assert (entry.status, entry.depth, entry.score, entry.first_seen) == (Status.UNFETCHED, 3, 0.5, 10)
    assert (entry.lastmod, entry.last_fetched, entry.source) == (7, 0, "http://a/")
    assert due[:4] == (0.5, -3, -10, key)


def test_deep_urls_and_hosts_that_may_not_be_followed_are_left_to_the_next_round() -> None:
    fresh = DiscoveredUrls()
    links = outlinks(fresh)
    find(fresh, links, "http://a/deep", depth=DEEPEST + 1)
    find(fresh, links, "http://elsewhere/")
    assert not any(links.hosts.values())
    assert links.only_has_others(b"a") and links.only_has_others(b"elsewhere")
    find(fresh, links, "http://a/one", depth=DEEPEST)
    assert not links.only_has_others(b"a") and not links.only_has_others(b"b")
    assert taken(links) == ["http://a/one"]
    assert links.only_has_others(b"a")


def test_memory_bounds_the_urls() -> None:
    fresh = DiscoveredUrls()
    links = outlinks(fresh, memory=3 * URL_BYTES)
    for number in range(9):
        find(fresh, links, f"http://a/{number}")
    assert len(taken(links)) == 3


def test_what_an_earlier_attempt_has_found_is_added_to_what_this_one_finds() -> None:
    fresh = DiscoveredUrls()
    links = outlinks(fresh)
    key = webdb_key("http://a/one")
    links.adopt([(key, Fresh(5, 2, 0.25, source="http://a/s")), (webdb_key("http://c/"), Fresh(5))])
    fresh.add(Origin("http://a/x", 11, 1, 0.5), b"a", [(key, "")])
    (due,) = links.best(b"a", 99)
    entry = decode_entry(due.value)
    assert (entry.first_seen, entry.depth, entry.score) == (5, 1, 0.75)
    assert set(links.hosts) == {b"a"}


acts = st.lists(
    st.one_of(
        st.tuples(st.just("find"), st.sampled_from("ab"), st.integers(0, 30), st.integers(0, 4)),
        st.tuples(st.just("take"), st.sampled_from("ab"), st.booleans(), st.just(0)),
        st.tuples(st.just("save"), st.just(""), st.just(0), st.just(0)),
    ),
    max_size=60,
)


@given(acts, st.one_of(st.none(), st.integers(0, 12)), st.integers(0, 3))
def test_each_url_is_taken_once_and_no_host_gets_more_than_its_share(
    acts: list[tuple[str, str, int, int]], per_host: int | None, before: int
) -> None:
    fresh = DiscoveredUrls()
    links = outlinks(fresh, per_host=per_host)
    links.count({b"a": before})
    known: set[bytes] = set()
    scores: dict[bytes, int] = {}
    done: list[bytes] = []
    for act, host, number, points in acts:
        if act == "find":
            key = webdb_key(f"http://{host}/{number}")
            fresh.add(Origin("http://a/", 1, 1, float(points)), b"a", [(key, "")])
            scores[key] = scores.get(key, 0) + points
            if key not in known:  # as in Discovery: only new URLs are reported
                known.add(key)
                links.add([key], 1)
        elif act == "take":
            best = links.best(host.encode(), 99)
            assert [due.score for due in best] == sorted((scores[due.key] for due in best), reverse=True)
            waits = [scores[key] for key in known - set(done) if host_in_key(key) == host.encode()]
            assert not best or best[0].score == max(waits)
            if number:
                links.give_back(best)
            else:
                done += [due.key for due in best]
        else:
            fresh.clear()
    assert len(done) == len(set(done))
    for name in (b"a", b"b"):
        own = {key for key in done if host_in_key(key) == name}
        share = None if per_host is None else max(0, per_host - (before if name == b"a" else 0))
        assert share is None or len(own) <= share
        assert links.hosts.get(name, set()) == {key for key in known if host_in_key(key) == name} - own
