from __future__ import annotations

import pytest

from crawlctl.pipeline.crawl.reports.page_counts import PageCounts, failures, page_counts
from crawlctl.pipeline.fetch.save.run_buffer import change_of
from crawlctl.pipeline.webdb.records import Kind, Outcome, Status, WebEntry

NEVER = WebEntry(Status.UNFETCHED, 0, 1.0, 0, 1)
BEFORE = WebEntry(Status.FETCHED, 0, 1.0, 0, 1, last_fetched=5, signature=b"words")


@pytest.mark.parametrize(
    ("entry", "outcome", "change"),
    [
        (NEVER, Outcome(Kind.FETCHED, 9, signature=b"words"), "new"),
        (BEFORE, Outcome(Kind.FETCHED, 9, signature=b"words"), "unchanged"),
        (BEFORE, Outcome(Kind.FETCHED, 9, signature=b"others"), "changed"),
        (BEFORE, Outcome(Kind.FETCHED, 9), "changed"),
        (BEFORE, Outcome(Kind.NOT_MODIFIED, 9), "unchanged"),
        (BEFORE, Outcome(Kind.GONE, 9), None),
        (NEVER, Outcome(Kind.FAILED, 9), None),
        (NEVER, Outcome(Kind.NOINDEX, 9, signature=b"words"), None),
    ],
)
def test_content_is_new_changed_or_unchanged(entry: WebEntry, outcome: Outcome, change: str | None) -> None:
    assert change_of(entry, outcome) == change


def test_a_404_is_not_fetched_and_every_outcome_is_counted_once() -> None:
    counters = {
        "pages": 20,
        "new": 1,
        "changed": 2,
        "unchanged": 3,
        "fetched": 4,
        "not_modified": 2,
        "found": 1,
        "moved": 1,
        "gone": 5,
        "forbidden": 1,
        "disallowed": 1,
        "excluded": 1,
        "noindex": 1,
        "failed": 9,
        "failed with timeout": 3,
        "failed with status 503": 1,
    }
    counts = page_counts(counters)
    assert counts == PageCounts(1, 2, 3, 2, 5, 2, 2, 4, 5)
    assert counts.fetched == 6
    assert failures(counters) == {"timeout": 3, "status 503": 1}
    assert counts + counts == PageCounts(2, 4, 6, 4, 10, 4, 4, 8, 10)
