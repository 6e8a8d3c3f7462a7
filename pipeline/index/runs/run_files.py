"""The names of the files of a run.

Documents and postings are MapFiles; heads and links are SequenceFiles.

    docs/<partition>/<round>-<attempt>/data, index      ordinal → DocRecord
    docs/<partition>/<round>-<attempt>/heads            ordinal → DocHead
    postings/<partition>/<round>-<attempt>/data, index  first term → a slice of posting lists
    links/<partition>/<round>-<attempt>                 ordinal → links

The files of a run share `<partition>/<round>-<attempt>` in their names. An ordinal is a LongWritable: Hadoop
and Spark show it as a number, and the byte order of its eight big-endian bytes is the order of numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.state.kinds import DOCS, LINKS, POSTINGS
from crawlctl.pipeline.state.layout import DATA, INDEX, attempt_of, data_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.state.manifest import FileEntry

HEADS = "heads"
RUN_KINDS = (DOCS, POSTINGS, LINKS)

DOCUMENTS_KEY = "crawlctl.documents"  # in the header of postings: how many documents the run has

MARKS_KEY = "crawlctl.marked_terms"  # in the header of postings: terms are marked with their language

FORMS_KEY = "crawlctl.word_forms"  # in the header of postings: words as they are written are terms too

# Small, because a look-up decompresses a block. With 16 kB the file would be 4 % smaller and a look-up would
# take a quarter longer; with 4 kB it would be 5 % larger and a sixth faster.
DOCS_BLOCK_BYTES = 8 << 10
# Large, because one list may hold all positions of a run.
MAX_POSTINGS_BLOCK_BYTES = 128 << 20


class RunFiles(NamedTuple):
    """The names of the files of one run."""

    docs_data: str
    docs_index: str
    docs_heads: str
    postings_data: str
    postings_index: str
    links: str


def new_run(partition: int, round_number: int) -> RunFiles:
    """Return names for the files of a new run."""
    return _files_of(data_name(DOCS, partition, round_number).partition("/")[2])


def runs_of(entries: Iterable[FileEntry]) -> list[RunFiles]:
    """Return the runs among the files of a manifest or snapshot, in the order of their names."""
    names = {entry.name for entry in entries if entry.kind in RUN_KINDS}
    runs = [_files_of(attempt_of(name)) for name in names if name.startswith(LINKS + "/")]
    strays = names.symmetric_difference(name for run in runs for name in run)
    if strays:
        raise StoreError(
            f"{min(strays)} is without the other files of its run, or missing itself; "
            "`crawlctl check --repair` rebuilds the documents of the run"
        )
    return sorted(runs, key=lambda run: run.links)


def _files_of(run: str) -> RunFiles:
    return RunFiles(
        f"{DOCS}/{run}/{DATA}",
        f"{DOCS}/{run}/{INDEX}",
        f"{DOCS}/{run}/{HEADS}",
        f"{POSTINGS}/{run}/{DATA}",
        f"{POSTINGS}/{run}/{INDEX}",
        f"{LINKS}/{run}",
    )
