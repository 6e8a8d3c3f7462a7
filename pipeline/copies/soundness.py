"""Checks the files of a crawl against their manifests, and says what to do about damaged ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.copies.copy_files import AT_ONCE, check_file
from crawlctl.pipeline.copies.copy_records import source_of_copy
from crawlctl.pipeline.errors import CorruptFile, MissingFile
from crawlctl.pipeline.state.kinds import DICTIONARY, GRAPH, GROUPS, PAGES, PRIORS, RANKS

if TYPE_CHECKING:
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

# The commands that make files of these kinds again without reading the old ones.
_MADE_BY = {RANKS: "rank", GRAPH: "rank", PRIORS: "rank", GROUPS: "merge --full", DICTIONARY: "merge --full"}


class Finding(NamedTuple):
    """A file that is damaged or missing, why, and what to do about it."""

    entry: FileEntry
    reason: str
    remedy: str


def unsound_files(store: Store, snapshot: Snapshot) -> list[Finding]:
    """Read all files of a snapshot, several at once, and return the files that are damaged or missing."""
    entries = sorted(snapshot.files, key=lambda entry: -entry.bytes)  # a large file comes first
    source = source_of_copy(store, snapshot)
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="check") as pool:
        try:
            reasons = list(pool.map(lambda entry: _reason(store, entry), entries))
        finally:  # after Ctrl-C, or if the store does not answer
            pool.shutdown(cancel_futures=True)
    found = zip(entries, reasons, strict=True)
    unsound = [Finding(entry, reason, _remedy(store, entry, source)) for entry, reason in found if reason]
    return sorted(unsound, key=lambda finding: finding.entry.name)


def _reason(store: Store, entry: FileEntry) -> str:
    """Return what is wrong with a file, or "" if it is sound."""
    try:
        check_file(store, entry)
    except MissingFile:
        return "it is missing"
    except CorruptFile as err:
        return f"it is damaged: {err.reason}"
    return ""


def _remedy(store: Store, entry: FileEntry, source: str) -> str:
    """Return what the user can do; `source` is the store that this one is a copy of, or ""."""
    if source:
        return f"bring it again with `crawlctl copy {source} {store.uri} --verify`"
    if entry.kind in _MADE_BY:
        return f"make it again with `crawlctl {_MADE_BY[entry.kind]} --store {store.uri}`"
    restore = "put the file of the same name there from a copy of this crawl"
    if entry.kind == PAGES:
        return f"{restore}; searches do without it, and the next visits archive its pages again"
    archives = f"the archives in {store.uri}/{PAGES}"
    return (
        f"{restore}; without one, make a new crawl of {archives}: `crawlctl import-warc FILE... --store NEW`"
    )
