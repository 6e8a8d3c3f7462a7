"""Checks the files of a partition: each against its manifest, and all against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.copies.copy_files import check_file
from crawlctl.pipeline.errors import CorruptFile, CrawlctlError, MissingFile
from crawlctl.pipeline.repair.captures_check import check_captures
from crawlctl.pipeline.repair.finding import Finding
from crawlctl.pipeline.repair.index_check import check_dictionary, check_side_files
from crawlctl.pipeline.repair.webdb_check import check_documents, check_hosts, check_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_CROSS_CHECKS = (
    *(check_side_files, check_dictionary, check_part, check_hosts, check_documents, check_captures),
)


def check_partition(store: Store, snapshot: Snapshot, partition: int) -> list[Finding]:
    """Return everything that is wrong with the files of a partition.

    What the files say about each other is checked only where all of them are sound.
    """
    files = [entry for entry in snapshot.files if entry.partition == partition]
    found = [finding for entry in files for finding in _check_bytes(store, entry)]
    damaged = {finding.file for finding in found}
    for check in _CROSS_CHECKS:
        found += _checked(check(store, snapshot, partition, damaged), files)
    return sorted(found, key=lambda finding: finding.file)


def _check_bytes(store: Store, entry: FileEntry) -> Iterator[Finding]:
    """Yield a finding if a file is missing, or not as it was written."""
    try:
        check_file(store, entry)
    except MissingFile:
        yield Finding(entry.name, entry.kind, entry.partition, "damaged", "it is missing")
    except CorruptFile as err:
        yield Finding(entry.name, entry.kind, entry.partition, "damaged", f"it is damaged: {err.reason}")


def _checked(findings: Iterator[Finding], files: list[FileEntry]) -> Iterator[Finding]:
    """Yield findings; a file that cannot be read, although its bytes are as they were written, is one too."""
    try:
        yield from findings
    except CrawlctlError as err:
        entry = next((one for one in files if one.name in str(err)), None)
        if entry is None:
            raise
        yield Finding(entry.name, entry.kind, entry.partition, "wrong", f"it cannot be read: {err}")
