"""Results as they are shown, and whether more follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.serve.searching.found_results import search
from crawlctl.pipeline.serve.searching.search_request import SearchRequest
from crawlctl.tests.pipeline.serve.served_web import UNSPOKEN

if TYPE_CHECKING:
    from crawlctl.pipeline.serve.served_crawl import ServedCrawl


@pytest.mark.parametrize(
    ("limit", "offset", "has_more"), [(10, 0, True), (24, 0, True), (25, 0, False), (5, 20, False)]
)
def test_more_follow_exactly_if_there_are_more(
    served: ServedCrawl, limit: int, offset: int, has_more: bool
) -> None:
    from crawlctl.pipeline.search.open.open_index import open_index

    searcher = open_index(served.store)
    found = search(searcher, SearchRequest(UNSPOKEN, limit=limit, offset=offset))
    assert (found.has_more, len(found.results)) == (has_more, limit)
