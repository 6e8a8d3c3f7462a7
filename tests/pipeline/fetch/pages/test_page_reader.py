"""What is kept of a page that was parsed, or only salvaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch import task
from crawlctl.pipeline.fetch.pages.discovery import LINK_SHARE, share_of
from crawlctl.pipeline.fetch.pages.page_reader import CUT
from crawlctl.pipeline.text.documents.document import parse_document, salvage_document
from crawlctl.pipeline.text.guarded.guard import Guard
from crawlctl.pipeline.webdb.records import Kind, Status
from crawlctl.tests.pipeline.fetch.crawl import settings
from crawlctl.tests.pipeline.fetch.visits import next_visit

if TYPE_CHECKING:
    import pytest

    from crawlctl.pipeline.text.documents.document import FetchedDocument, Parsed, ParseRules
    from crawlctl.tests.pipeline.fetch.crawl import Crawl
    from crawlctl.tests.pipeline.fetch.site import Site


def test_a_page_that_was_only_salvaged_is_asked_for_whole_the_next_time(
    site: Site, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.page("/", text="some words", ETag='"v1"', Last_Modified="Tue, 03 Nov 2026 11:22:33 GMT")
    crawl.inject(site.url())
    with monkeypatch.context() as patched:
        patched.setattr(task, "Guard", _salvaging_guard)
        first = crawl.round()
    outcome = first.outcomes()[site.url()]
    assert outcome.kind is Kind.FETCHED and outcome.reason, "it is in the index with what was found"
    entry = crawl.entry(site.url())
    assert entry is not None and entry.validators == ("", "")
    assert next_visit(crawl, site, "/").indexed(site.host) == {"/"} and site.conditions == []
    assert next_visit(crawl, site, "/").kinds(site.host) == {"/": Kind.NOT_MODIFIED}
    assert crawl.statuses(site.host) == {"/": Status.UNCHANGED}


def test_a_page_of_which_only_the_beginning_is_indexed_says_so(site: Site, crawl: Crawl) -> None:
    crawl.config = settings(parse={"max_text": 10})
    site.page("/", text="more words than are kept", ETag='"v1"')
    crawl.inject(site.url())
    assert crawl.round().outcomes()[site.url()].reason == CUT
    assert next_visit(crawl, site, "/").kinds(site.host) == {"/": Kind.NOT_MODIFIED}
    entry = crawl.entry(site.url())
    assert entry is not None and entry.reason == CUT


def test_the_links_of_a_link_farm_give_a_tenth_of_the_priority(site: Site, crawl: Crawl) -> None:
    away = [f"http://shop{number}.test/{'offer' * 6}" for number in range(60)]
    site.page("/farm", "/bad", *away, text="Offers")
    site.page("/list", "/good", *away, text="A list of shops, and what we have bought in each of them. " * 99)
    crawl.inject(site.url("/farm"), site.url("/list"))
    found = crawl.fetch().fresh()
    bad, good = (found[site.url(path)].score for path in ("/bad", "/good"))
    assert good == share_of(LINK_SHARE, 61)
    assert bad == share_of(LINK_SHARE * 0.1, 61)


def _salvaging_guard(rules: ParseRules, *args: object, **options: object) -> Guard:
    return Guard(rules, parse=_fail, salvage=salvage_document)


def _fail(document: FetchedDocument, rules: ParseRules) -> Parsed:
    parse_document(document, rules)
    raise MemoryError
