"""The rules for forgotten pages that a garbage collection has carried out: a small file of the snapshot.

So a garbage collection knows whether there is anything to remove without reading the crawl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.kinds import PURGED
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import file_entry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


def purged_rules(store: Store, snapshot: Snapshot) -> frozenset[str]:
    """Return the rules whose pages were removed."""
    rules: set[str] = set()
    for entry in snapshot.files_of(PURGED):
        try:
            rules.update(msgspec.json.decode(store.read(entry.name), type=list[str]))
        except (msgspec.DecodeError, UnicodeDecodeError) as err:
            raise CorruptFile(store.locate(entry.name), 0, f"not a list of rules ({err})") from err
    return frozenset(rules)


def write_purged_rules(store: Store, rules: Iterable[str], round_number: int) -> tuple[FileEntry, ...]:
    """Write the rules whose pages were removed; without rules there is no file."""
    listed = sorted(rules)
    if not listed:
        return ()
    with store.write(data_name(PURGED, 0, round_number, ".json")) as sink:
        sink.write(msgspec.json.encode(listed) + b"\n")
    return (file_entry(sink, PURGED, 0, len(listed)),)
