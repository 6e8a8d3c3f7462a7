"""A page that lies in the archive of a saved run is parsed by the next attempt, and not asked for again."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.save.adoption import adopt_runs
from crawlctl.pipeline.fetch.save.archive import UNPARSED
from crawlctl.pipeline.fetch.save.unparsed import has_unparsed, unparsed_answers
from crawlctl.pipeline.fetch.task import fetch_partition
from crawlctl.pipeline.state.kinds import PAGES
from crawlctl.pipeline.text.documents.document import parse_document
from crawlctl.pipeline.text.guarded.guard import Guard
from crawlctl.pipeline.urls.hosts import url_of_key
from crawlctl.pipeline.webdb.records import Kind
from crawlctl.tests.pipeline.fetch.crawl import Crawl, Fetched, paths, settings

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from crawlctl.pipeline.text.documents.document import FetchedDocument, Parsed, ParseRules
    from crawlctl.tests.pipeline.fetch.site import Site

PATHS = {"/", "/1", "/slow", "/slow2", "/slow3"}


def sleep_over_some(document: FetchedDocument, rules: ParseRules) -> Parsed:
    if "/slow" in document.url:
        time.sleep(60)
    return parse_document(document, rules)


def fill(site: Site) -> None:
    for path in PATHS:
        site.page(path, f"/from{path}", ETag=f'"{path}"', Content_Language="en")
    site.text("/gone", "no", status=404)
    site.redirect("/old", "/1")


def seeded(folder: Path, site: Site, **rounds: object) -> Crawl:
    crawl = Crawl(folder, settings(round=rounds))
    crawl.inject(*(site.url(path) for path in (*PATHS, "/gone", "/old")))
    return crawl


def stop_while_parsing(crawl: Crawl, site: Site, monkeypatch: pytest.MonkeyPatch) -> Fetched:
    """Fetch all pages, but end the task while the helper is at one of them."""
    with monkeypatch.context() as patch:
        patch.setattr("crawlctl.pipeline.fetch.task.Guard", partial(Guard, parse=sleep_over_some))
        patch.setattr("crawlctl.pipeline.fetch.loop.fetch_loop._LAST_PARSING", 0.3)
        everything = len(PATHS) + 2
        files = fetch_partition(
            crawl.order(), crawl.store, should_stop=lambda: len(site.pages_asked()) >= everything
        )
    return Fetched(crawl.store, files)


def unparsed(crawl: Crawl) -> set[str]:
    adopted = adopt_runs(crawl.store, 1, 0)
    return {url_of_key(key) for key, _ in unparsed_answers(crawl.store, adopted)}


def test_what_was_archived_is_not_asked_for_again(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(site)
    crawl = seeded(tmp_path / "stopped", site)
    stopped = stop_while_parsing(crawl, site, monkeypatch)
    assert not paths(stopped.outcomes(), site.host) & {"/slow", "/slow2"}
    assert sum(entry.counters.get(UNPARSED, 0) for entry in stopped.of(PAGES)) >= 2
    asked = len(site.pages_asked())
    resumed = crawl.fetch()
    assert len(site.pages_asked()) <= asked + 1, "the answer under way at the stop may be lost, no other"
    whole = seeded(tmp_path / "whole", site).fetch()
    assert without_times(resumed) == without_times(whole)
    assert resumed.fresh().keys() == whole.fresh().keys()
    assert resumed.indexed(site.host) == whole.indexed(site.host) == PATHS
    totals = resumed.counters(), whole.counters()
    assert totals[0]["pages"] == totals[1]["pages"] == len(PATHS) + 2
    assert not unparsed(crawl)


def without_times(fetched: Fetched) -> dict[str, tuple[object, ...]]:
    return {
        url: (one.kind, one.code, one.signature, one.etag, one.target, one.reason, one.depth)
        for url, one in fetched.outcomes().items()
    }


def test_a_second_stop_loses_nothing_either(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(site)
    crawl = seeded(tmp_path / "crawl", site)
    stop_while_parsing(crawl, site, monkeypatch)
    archived = unparsed(crawl)
    assert archived
    stop_while_parsing(crawl, site, monkeypatch)
    assert archived <= unparsed(crawl)
    site.asked.clear()
    fetched = crawl.fetch()
    assert not paths(archived, site.host) & set(site.asked)
    assert {fetched.outcomes()[url].kind for url in archived} == {Kind.FETCHED}


def test_the_budget_of_pages_counts_a_page_once(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(site)
    crawl = seeded(tmp_path / "crawl", site)
    stop_while_parsing(crawl, site, monkeypatch)
    assert len(crawl.fetch(max_pages=len(PATHS) + 2).outcomes()) == len(PATHS) + 2


def test_pages_that_are_not_parsed_are_saved_when_their_time_has_come(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = Crawl(tmp_path / "crawl", settings(round={"flush_time": "1s"}))
    site.page("/slow")
    crawl.inject(site.url("/slow"))
    order = crawl.order()

    def is_saved() -> bool:
        return has_unparsed(adopt_runs(crawl.store, order.round, 0))

    monkeypatch.setattr("crawlctl.pipeline.fetch.task.Guard", partial(Guard, parse=sleep_over_some))
    monkeypatch.setattr("crawlctl.pipeline.fetch.loop.fetch_loop._LAST_PARSING", 0.0)
    started = time.monotonic()
    fetch_partition(order, crawl.store, should_stop=is_saved)
    assert is_saved() and time.monotonic() - started < 30


def test_a_damaged_archive_costs_a_second_request_and_no_more(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(site)
    crawl = seeded(tmp_path / "crawl", site)
    stopped = stop_while_parsing(crawl, site, monkeypatch)
    (entry,) = [entry for entry in stopped.of(PAGES) if entry.counters.get(UNPARSED)][:1]
    file = crawl.folder / entry.name
    file.write_bytes(bytes(entry.bytes))
    assert paths(crawl.fetch().outcomes(), site.host) == {*PATHS, "/gone", "/old"}
