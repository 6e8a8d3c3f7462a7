"""A revision of a part against a revision of one entry after the other, written plainly."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import ScopeSettings
from crawlctl.pipeline.politeness.host_state import HostState, SchemeState
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.state.kinds import HOSTS, WEBDB
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import host_of, webdb_key
from crawlctl.pipeline.webdb.part import part_in, write_part
from crawlctl.pipeline.webdb.records import LIVE, NEVER, Status, WebEntry, encode
from crawlctl.pipeline.webdb.revision.order import PartLine, ReviseOrder
from crawlctl.pipeline.webdb.revision.task import revise_partition
from crawlctl.pipeline.webdb.row_files import read_hosts, write_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.webdb.revision.order import RevisedPart

NOW = 1_800_000_000
HOST_NAMES = ("a.org", "b.org", "c.a.org")
URLS = [f"https://{host}/{path}" for host in HOST_NAMES for path in ("", "x", "x/y", "z?q=1")]
RULES = ("a.org", "*.a.org", "domain:a.org", "https://b.org/x", "url:https://a.org/x", "regex:z", "*")

rules = st.lists(st.sampled_from(RULES), max_size=2).map(tuple)
scopes = st.builds(
    ScopeSettings,
    include=rules,
    exclude=rules,
    forgotten=rules,
    hidden=rules,
    max_depth=st.integers(0, 2),
)
entries = st.builds(
    WebEntry,
    status=st.sampled_from(Status),
    next_due=st.sampled_from([NOW - 5, NOW + 5, NEVER]),
    score=st.just(0.5),
    depth=st.integers(0, 3),
    first_seen=st.just(7),
    last_tried=st.sampled_from([0, NOW - 9, NOW]),
    last_fetched=st.sampled_from([0, NOW - 9]),
    etag=st.sampled_from(["", '"e"']),
    reason=st.sampled_from(["", "noindex", "scope.exclude: the rule x", "scope.forgotten: the rule y"]),
    canonical=st.sampled_from(["", *URLS]),
    source=st.sampled_from(["", "https://a.org/", "warc:old.warc.gz"]),
)
parts = st.dictionaries(st.sampled_from(URLS), entries, min_size=1)


def order(scope: ScopeSettings, only: tuple[str, ...] = (), *, refresh: bool = False) -> ReviseOrder:
    hosts = ("a.org",)
    return ReviseOrder(
        store="", round=3, indexed=0, now=NOW, scope=scope, seed_hosts=hosts, only=only, refresh=refresh
    )


def written(store: LocalStore, part: Mapping[str, WebEntry], block: int = 3) -> PartLine:
    """Write entries as a part, in blocks of a few rows."""
    rows = sorted((webdb_key(url), encode(entry)) for url, entry in part.items())
    some = [rows[start : start + block] for start in range(0, len(rows), block)]
    blocks = (([key for key, _ in rows], [value for _, value in rows]) for rows in some)
    return PartLine(1, write_part(store, blocks, partition=1, round_number=2))


def revised(part: Mapping[str, WebEntry], task: ReviseOrder) -> tuple[dict[str, WebEntry], RevisedPart]:
    with TemporaryDirectory() as folder:
        store = LocalStore(Path(folder))
        line = written(store, part)
        done = revise_partition(store, task, line)
        after = part_in(store, done.files or line.files)
        assert after is not None
        return dict(after), done


def due_now(entry: WebEntry) -> WebEntry:
    if entry.next_due <= NOW:
        return entry
    return replace(entry, next_due=NOW, last_tried=min(entry.last_tried, NOW - 1))


def plainly(url: str, entry: WebEntry, task: ReviseOrder) -> WebEntry:
    """The rules of a revision, said once more without any care for speed."""
    exclusion = Scope(task.scope, task.seed_hosts).verdict(url, entry.depth)
    was_shut_out = entry.status is Status.EXCLUDED and entry.reason.startswith("scope.")
    if task.refresh:
        is_visited = exclusion is None and not was_shut_out
        return due_now(entry) if is_visited else entry
    if exclusion is None and was_shut_out:
        kept = {"score", "depth", "first_seen", "anchors", "source", "anchor_weights", "hops"}
        kept |= {"lastmod", "published"}
        same = {name: getattr(entry, name) for name in kept}
        return WebEntry(Status.UNFETCHED, next_due=NOW, last_tried=NOW - 1, **same)
    if exclusion is None:
        # An imported page is read again as a whole, because links outside the scope were not taken.
        return replace(due_now(entry), etag="", last_modified="") if entry.next_due == NEVER else entry
    is_removed = exclusion.setting in ("scope.forgotten", "scope.hidden")
    if entry.source.startswith("warc:") and not is_removed:
        return replace(entry, next_due=NEVER)
    is_forgotten = exclusion.setting == "scope.forgotten"
    if was_shut_out and entry.reason.startswith("scope.forgotten:") == is_forgotten:
        return entry
    return replace(
        *(entry,),
        status=Status.EXCLUDED,
        next_due=NEVER,
        last_tried=NOW,
        interval=0,
        tries=0,
        code=0,
        etag="",
        last_modified="",
        redirect_to="",
        links_taken=0,
        reason=str(exclusion),
    )


@given(parts, scopes, rules, st.booleans())
def test_a_part_is_revised_like_its_entries_one_by_one(
    part: dict[str, WebEntry], scope: ScopeSettings, only: tuple[str, ...], refresh: bool
) -> None:
    from crawlctl.pipeline.scope.scope_rules import RuleSet

    task = order(scope, only, refresh=refresh)
    meant = {url for url in part if not only or RuleSet("x", only).matching(url, host_of(url))}
    expected = {url: plainly(url, entry, task) if url in meant else entry for url, entry in part.items()}
    left = {url for url in part if part[url].live and not expected[url].live}
    for url, entry in expected.items():  # a duplicate of a page that has left
        if entry is part[url] and entry.status is Status.DUPLICATE and entry.canonical in left:
            due = entry.next_due if entry.tries else min(entry.next_due, NOW)
            expected[url] = replace(entry, canonical="", etag="", last_modified="", next_due=due)
    after, done = revised(part, task)
    assert after == expected
    assert bool(done.files) == (expected != part)
    assert done.left == len(left)
    assert sum(done.matched.values()) == (len(meant) if only else 0)


@given(parts, scopes)
def test_a_second_revision_changes_nothing(part: dict[str, WebEntry], scope: ScopeSettings) -> None:
    after, _ = revised(part, order(scope))
    _, again = revised(after, order(scope))
    assert (again.files, again.left, again.excluded) == ((), 0, 0)


@given(parts, scopes, scopes)
def test_no_page_outside_is_live_or_due_and_none_is_lost(
    part: dict[str, WebEntry], narrow: ScopeSettings, wide: ScopeSettings
) -> None:
    after, _ = revised(revised(part, order(narrow))[0], order(wide))
    assert after.keys() == part.keys()
    for url, entry in after.items():
        exclusion = Scope(wide, ("a.org",)).verdict(url, entry.depth)
        if exclusion is not None and not entry.source.startswith("warc:"):
            assert entry.status not in LIVE
            assert entry.next_due == NEVER or entry.reason.startswith("scope.")
        if exclusion is None:
            assert entry.next_due != NEVER


def test_a_dry_run_counts_and_writes_nothing(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    line = written(store, {url: WebEntry(Status.FETCHED, NOW, 0.5, 1, 7) for url in URLS})
    before = {file.name for file in store.list("webdb/")}
    done = revise_partition(store, replace(order(ScopeSettings(exclude=("a.org",))), dry_run=True), line)
    assert (done.left, done.files) == (12, ())  # the others are not of a seed host
    assert len(done.examples) == 5
    assert {file.name for file in store.list("webdb/")} == before


def test_a_refresh_opens_the_hosts_of_the_pages_and_no_others(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    closed = HostState(not_before=NOW + 99.0, failures=3, schemes={"https": SchemeState(NOW + 99.0, 3)})
    hosts = [(name.encode(), encode(closed)) for name in sorted(HOST_NAMES)]
    table = write_table(
        store, HOSTS, [([k for k, _ in hosts], [v for _, v in hosts])], partition=1, round_number=2
    )
    line = written(store, {url: WebEntry(Status.GONE, NOW + 9, 0.5, 1, 7) for url in URLS})
    line = replace(line, files=(*line.files, table))
    task = order(ScopeSettings(include=("*",)), ("b.org",), refresh=True)
    done = revise_partition(store, task, line)
    assert (done.due, done.matched) == (4, {"b.org": 4})
    assert [entry.kind for entry in done.files] == [WEBDB] * 6 + [HOSTS]
    states = dict(read_hosts(store, done.files[-1]))
    assert states["a.org"] == states["c.a.org"] == closed
    assert states["b.org"] == HostState(schemes={"https": SchemeState()})
    again = revise_partition(store, task, replace(line, files=done.files))
    assert (again.due, again.files) == (4, ())
