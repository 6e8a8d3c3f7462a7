"""The figures of rows come from manifests."""

from __future__ import annotations

from crawlctl.pipeline.crawl.history.row_figures import (
    figures_of_files,
    figures_of_round,
    index_by_component,
    stored_by_kind,
)
from crawlctl.pipeline.crawl.reports.page_counts import PageCounts
from crawlctl.pipeline.fetch.save.latency import bucket_of, latency_counter
from crawlctl.pipeline.state.manifest import FileEntry

SUM = "0" * 64


def file(kind: str, path: str, size: int, **counters: int) -> FileEntry:
    return FileEntry(kind, 0, f"{kind}/00000/00000001-{'0' * 16}{path}", size, 4, SUM, counters)


def test_sizes_are_summed_by_kind_and_by_component_of_the_index() -> None:
    files = [
        file("segments", "/postings", 100),
        file("segments", "/docs/data", 30),
        file("segments", "/docs/index", 3),
        file("dictionary", "/data", 20),
        file("deleted", "", 2),
        file("pages", ".warc.gz", 500),
        file("history", ".jsonl", 77),
    ]
    assert stored_by_kind(files) == {"segments": 133, "dictionary": 20, "deleted": 2, "pages": 500}
    assert index_by_component(files) == {"postings": 100, "docs": 33, "dictionary": 20, "tombstones": 2}


def test_the_runs_of_all_attempts_are_one_round() -> None:
    slow, fast = latency_counter(2.0), latency_counter(0.01)
    runs = [
        file("outcomes", "a", 1, **{"new": 3, "bytes": 10, "requests": 4, fast: 2, "left": 9, "failed": 2}),
        file("outcomes", "b", 1, **{"new": 1, "bytes": 5, fast: 1, slow: 1, "left": 1, "failed with dns": 1}),
    ]
    figures = figures_of_round(runs)
    assert figures["pages"] == PageCounts(new=4, failed=1, not_asked=1)
    assert figures["failures"] == {"dns": 1}
    assert (figures["received"], figures["requests"], figures["left"]) == (15, 4, 1)
    assert figures["latency"] == {bucket_of(0.01): 3, bucket_of(2.0): 1}
    assert figures["is_round"]


def test_the_size_of_a_crawl_is_read_from_counters() -> None:
    files = [file("webdb", "/data", 9, hosts=3), file("hosts", "", 9, **{"trouble dns": 2})]
    figures = figures_of_files(files)
    assert (figures["urls"], figures["hosts"], figures["documents"], figures["terms"]) == (4, 3, 0, 0)
