"""The formats of `crawlctl export`: which function writes each, and which answers it leaves out.

Whoever parses the command line needs the names alone, so a function is imported only when it writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawlctl.pipeline.crawl.exports.exported_captures import Chosen, Exported
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


class Writer(Protocol):
    """Writes the chosen captures; what does not fit into memory lies in the folder `scratch`."""

    def __call__(
        self, store: Store, snapshot: Snapshot, chosen: Chosen, sink: BinaryIO, scratch: Path, /
    ) -> Exported:
        """Write them to `sink`, and return what was written."""


class ExportFormat(NamedTuple):
    """A format: what imports its writer, and why it leaves out answers of imported archives."""

    writer: Callable[[], Writer]
    left_out: str


def _cdxj() -> Writer:
    from crawlctl.pipeline.crawl.exports.cdxj import write_cdxj

    return write_cdxj


def _wacz() -> Writer:
    from crawlctl.pipeline.crawl.exports.wacz import write_wacz

    return write_wacz


FORMATS = {
    "cdxj": ExportFormat(
        _cdxj, "their archives are compressed as a whole, so no program can read one answer alone"
    ),
    "wacz": ExportFormat(_wacz, "their archives are files of your own"),
}
