from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import BudgetSettings
from crawlctl.pipeline.scope.url_budgets import UrlBudgets
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import host_in_key, host_of, url_of_key, webdb_key
from crawlctl.pipeline.webdb.extract.folder_counts import FolderCounts
from crawlctl.pipeline.webdb.extract.part_extract import extract_of
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode
from crawlctl.tests.pipeline.webdb.extract.made_parts import Table, made_part

paths = st.lists(st.sampled_from(["", "a", "a-b", "b", "b.c"]), max_size=4).map("/".join)
queries = st.sampled_from(["", "?", "?x=1", "?x=2&y=3", "?y=1&x=2/z", "?/a/b/"])
urls = st.builds(
    "{}://{}.example/{}{}".format, st.sampled_from(["http", "https"]), st.sampled_from("gh"), paths, queries
)
entries = st.sampled_from(
    [encode(WebEntry(status, 1, 0.5, 1, 1)) for status in (Status.GONE, Status.FETCHED)]
)
changes = st.dictionaries(urls.map(webdb_key), entries, max_size=20)
LIVE = encode(WebEntry(Status.FETCHED, 1, 0.5, 1, 1))


def counted(table: Table, host: str, settings: BudgetSettings) -> Any:
    budgets = UrlBudgets(settings)
    for key, value in table.items():
        url = url_of_key(key)
        if host_of(url) == host:
            budgets.count(url)
            if value == LIVE:
                budgets.useful(url)
    return plain(budgets, host)


def plain(budgets: UrlBudgets, host: str) -> Any:
    counts = budgets._hosts[host]
    groups = {name: (one.urls, one.useful) for name, one in counts.groups.items()}
    return (counts.all.urls, counts.all.useful), groups, counts.sets_of_path


@given(st.lists(st.tuples(changes, st.booleans()), min_size=1, max_size=5), st.integers(0, 2))
def test_budgets_by_the_extract_are_those_of_all_rows(
    history: list[tuple[Table, bool]], segments: int
) -> None:
    settings = BudgetSettings(prefix_segments=segments)
    with TemporaryDirectory() as folder:
        part, table = made_part(LocalStore(folder), history)
        extract = extract_of(part)
        if extract is None:
            return
        for host in {host_of(url_of_key(key)) for key in table}:
            budgets, name = UrlBudgets(settings), host.encode()
            groups = [(one, *counts) for one, counts in extract.folders_of(name).items()]
            budgets.load(host, *extract.host(name)[1:], groups)
            assert plain(budgets, host) == counted(table, host, settings)
        assert extract.folders_of(b"elsewhere.example") == {}


@given(changes)
def test_rows_that_are_taken_away_leave_nothing(table: Table) -> None:
    counts = FolderCounts()
    keys = sorted(table)
    live = np.array([table[key] == LIVE for key in keys], np.bool_)
    counts.add(keys, live)
    counts.add(keys, live, -1)
    assert all(counts.of_host(host) == [] for host in (b"g.example", b"h.example"))


@given(changes, st.integers(0, 20))
def test_packed_hosts_keep_their_counts(table: Table, first: int) -> None:
    keys = sorted(table)
    live = np.array([table[key] == LIVE for key in keys], np.bool_)
    packed, plain_counts = FolderCounts(), FolderCounts()
    for some in (slice(first), slice(first, None)):
        if keys[some]:
            packed.add(keys[some], live[some])
            packed.pack(host_in_key(keys[some][-1]))
    plain_counts.add(keys, live)
    for host in map(host_in_key, keys):
        names, urls, of_live = packed.columns_of(host)
        found = zip(names.decode().splitlines(), urls.tolist(), of_live.tolist(), strict=True)
        assert list(found) == plain_counts.of_host(host)
