"""The figures of a history row, from manifests alone: the runs of a round, and the files of a snapshot."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.crawl.reports.page_counts import counters_of, failures, page_counts, received
from crawlctl.pipeline.crawl.reports.run_report import left_at_the_end, limits_reached
from crawlctl.pipeline.fetch.save.latency import histogram_of
from crawlctl.pipeline.fetch.save.run_buffer import REQUESTS
from crawlctl.pipeline.index.statistics import summary_of
from crawlctl.pipeline.state.kinds import (
    COMPARED,
    COMPOUND,
    DELETED,
    DICTIONARY,
    GROUPS,
    HISTORY,
    INTERLEAVED,
    PRIORS,
    SEGMENTS,
    WEBDB,
)
from crawlctl.pipeline.state.layout import component_of
from crawlctl.pipeline.webdb.census import HOSTS
from crawlctl.pipeline.webdb.host_table import failing_hosts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.state.manifest import FileEntry

_OF_THE_INDEX = {
    COMPARED: "groups",
    COMPOUND: "compound",
    DELETED: "tombstones",
    DICTIONARY: "dictionary",
    GROUPS: "groups",
    INTERLEAVED: "interleaved",
    PRIORS: "priors",
}


def figures_of_round(fetched: Sequence[FileEntry]) -> dict[str, Any]:
    """Return the fields of a row that say what a round did, from all runs that were saved for it."""
    counters = counters_of(fetched)
    return {
        "is_round": True,
        "pages": page_counts(counters),
        "failures": failures(counters),
        "requests": counters[REQUESTS],
        "received": received(counters),
        "left": left_at_the_end(fetched),
        "latency": dict(histogram_of(counters)),
        "ended_by": tuple(sorted(limits_reached(counters))),
    }


def figures_of_files(files: Sequence[FileEntry]) -> dict[str, Any]:
    """Return the fields of a row that say how large a crawl with these files is."""
    parts = [entry for entry in files if entry.kind == WEBDB]
    index = summary_of(files)
    return {
        "urls": sum(entry.records for entry in parts),
        "hosts": sum(entry.counters.get(HOSTS, 0) for entry in parts),
        "failing_hosts": failing_hosts(files).total(),
        "documents": index["documents"],
        "terms": index["terms"],
        "stored": stored_by_kind(files),
        "index": index_by_component(files),
    }


def stored_by_kind(files: Iterable[FileEntry]) -> dict[str, int]:
    """Return the bytes of files by their kind; the history itself is left out."""
    sizes: Counter[str] = Counter()
    for entry in files:
        if entry.kind != HISTORY:
            sizes[entry.kind] += entry.bytes
    return dict(sizes)


def index_by_component(files: Iterable[FileEntry]) -> dict[str, int]:
    """Return the bytes of the index by component: the files of segments, the dictionary and side files."""
    sizes: Counter[str] = Counter()
    for entry in files:
        if entry.kind == SEGMENTS:
            sizes[component_of(entry.name)] += entry.bytes
        elif entry.kind in _OF_THE_INDEX:
            sizes[_OF_THE_INDEX[entry.kind]] += entry.bytes
    return dict(sizes)
