"""Chooses the captures of a crawl to export, in the order of the tables.

An answer 304 is exported as its original answer, with the time of the visit. A revisit record would not work:
pywb 2.10 replays it as a 304 without a body.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.captures.capture_table import tables_of, unlisted_archives
from crawlctl.pipeline.captures.capture_tiers import merged_rows
from crawlctl.pipeline.errors import NothingMatched
from crawlctl.pipeline.state.kinds import CAPTURES
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.urls.hosts import host_of_key, partition_of, url_of_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.captures.capture_record import CaptureRecord
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


@dataclass(frozen=True)
class Chosen:
    """The pages to export: all, those of a host, or those whose URL begins with a prefix."""

    host: str | None = None
    prefix: str | None = None

    def has(self, key: bytes) -> bool:
        """Return whether the page of a WebDB key is chosen."""
        return (self.host is None or host_of_key(key) == self.host) and url_of_key(key).startswith(
            self.prefix or ""
        )


@dataclass
class Exported:
    """How much an export has written, and what it has left out."""

    captures: int = 0
    pages: int = 0  # URLs with captures
    archives: int = 0
    imported: int = 0  # captures left out because their archive is a file of the user
    folders: tuple[str, ...] = ()  # the folders of the imported archives that the export names


def exported_captures(
    store: Store, snapshot: Snapshot, chosen: Chosen
) -> Iterator[tuple[str, list[CaptureRecord]]]:
    """Yield each chosen URL with its captures, the oldest first; a revisit has the place of its original."""
    wanted = range(snapshot.partitions)
    if chosen.host is not None:
        number = partition_of(chosen.host, snapshot.partitions)
        wanted = range(number, number + 1)
    for partition in wanted:
        for key, captures in merged_rows(store, tables_of(snapshot.files_of(CAPTURES, partition))):
            if chosen.has(key):
                yield url_of_key(key), list(_replayable(captures))


def _replayable(captures: list[CaptureRecord]) -> Iterator[CaptureRecord]:
    """Yield captures with a body, from the oldest on; a revisit without an original is left out."""
    last: CaptureRecord | None = None
    for capture in captures:
        last = capture if capture.has_content else last
        original = last if capture.is_revisit else capture
        if original is not None:
            yield replace(original, time=capture.time)


def require_listed(snapshot: Snapshot) -> None:
    """Raise an error if there are archives that the tables of captures do not cover."""
    if missing := len(unlisted_archives(snapshot.files)):
        archives = counted(missing, "archive is", "archives are")
        raise NothingMatched(
            f"{archives} from before there was a table of captures, and would be left out; "
            "list them with `crawlctl check --repair`, then export again"
        )
