"""Decides which files stay as they are when a crawl gets another number of partitions.

An archive holds the answers of the hosts of one partition, in the order in which they came. No job searches
an archive by partition, so rewriting terabytes of archives would be useless. Each archive is copied as it is,
and belongs to partition `old number mod partitions`; the tables of captures say where the answers of a URL
are. Ranks of hosts and domains belong to the whole crawl, and so do its own settings and its history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.index.runs.run_files import RUN_KINDS
from crawlctl.pipeline.rank.publish.rank_tables import BY_DOMAIN, BY_HOST
from crawlctl.pipeline.state.kinds import (
    BLOCKS,
    CAPTURES,
    COMPARED,
    COMPOUND,
    DELETED,
    DICTIONARY,
    GRAPH,
    GROUPS,
    HISTORY,
    HOSTS,
    INTERLEAVED,
    PAGES,
    PRIORS,
    PURGED,
    RANKS,
    RULES,
    SEGMENTS,
    SETTINGS,
    WEBDB,
)

if TYPE_CHECKING:
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

MADE_ANEW = frozenset(
    {BLOCKS, CAPTURES, COMPARED, COMPOUND, DELETED, DICTIONARY, GRAPH, GROUPS, HOSTS, INTERLEAVED, PRIORS}
    | {RANKS, RULES, SEGMENTS, WEBDB}
    | set(RUN_KINDS)
)
_WHOLE = frozenset({HISTORY, PAGES, PURGED, SETTINGS})


def is_moved_whole(entry: FileEntry) -> bool:
    """Return whether a file is copied as it is."""
    if entry.kind == RANKS:
        return entry.name.endswith((BY_HOST, BY_DOMAIN))
    return entry.kind in _WHOLE


def whole_files(snapshot: Snapshot, partitions: int) -> tuple[FileEntry, ...]:
    """Return the files that are copied as they are, with their partitions in the copy."""
    strange = {entry.kind for entry in snapshot.files} - MADE_ANEW - _WHOLE
    if strange:
        raise StoreError(
            f"the crawl has files of the kind {min(strange)!r}, which this crawlctl cannot put into other "
            "partitions; upgrade it, or copy without --partitions"
        )
    whole = (entry for entry in snapshot.files if is_moved_whole(entry))
    return tuple(replace(entry, partition=entry.partition % partitions) for entry in whole)
