"""`crawlctl dump`: records as lines, from a table of the crawl or from any SequenceFile or MapFile."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crawlctl.pipeline.commands.shared.common import Session, json_option, pass_session, say, store_option
from crawlctl.pipeline.commands.shared.output import say_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
    from crawlctl.pipeline.formats.source import RangedSource

TABLES = ("webdb", "hosts", "docs", "postings", "links", "terms", "dictionary")
SEGMENT_TABLES = ("docs", "links", "terms")


@click.command("dump")
@click.argument("what", metavar="TABLE|FILE")
@click.option("--partition", type=click.IntRange(min=0), help="Print only this partition of a table.")
@click.option("--limit", type=click.IntRange(min=0), help="Stop after this many records.")
@click.option("--header", is_flag=True, help="Print the header of a file, not its records.")
@store_option
@json_option
@pass_session
def command(
    session: Session, *, what: str, partition: int | None, limit: int | None, header: bool, as_json: bool
) -> None:
    """Print the records of a table or a file, one per line.

    The tables are webdb, hosts, docs, links, terms, dictionary and postings (only of runs that are not merged
    yet). A file is a SequenceFile or the folder of a MapFile, given as a path or an hdfs:// or s3:// URI. A
    TAB separates key and value. Values that are not text are shown in base64.

    \b
    Example:
      crawlctl dump webdb --limit 10
      crawlctl dump --json part-r-00000
    """
    if what in TABLES and not Path(what).exists():
        readers = _table(session, what, partition)
    else:
        readers = iter([_open_file(what)])
    from crawlctl.pipeline.commands.shared.readable_records import header_line, record_lines

    lines = (header_line(reader.header) for reader in readers) if header else record_lines(readers, as_json)
    for line in islice(lines, limit):
        say_json(line) if as_json or header else say(line)


def _table(session: Session, kind: str, partition: int | None) -> Iterator[SequenceFileReader]:
    from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
    from crawlctl.pipeline.index.runs.run_files import HEADS
    from crawlctl.pipeline.index.segment.segment_files import EntrySource
    from crawlctl.pipeline.state.kinds import SEGMENTS
    from crawlctl.pipeline.state.layout import DATA, INDEX
    from crawlctl.pipeline.state.snapshots import load_current

    store = session.store()
    snapshot = load_current(store)
    of_segments = (f"/{kind}", f"/{kind}/{DATA}") if kind in SEGMENT_TABLES else ()
    for entry in snapshot.files_of(kind, partition):
        if not entry.name.endswith((f"/{INDEX}", f"/{HEADS}")):
            yield SequenceFileReader(EntrySource(store, entry))
    for entry in snapshot.files_of(SEGMENTS, partition):
        if entry.name.endswith(of_segments):
            yield SequenceFileReader(EntrySource(store, entry))


def _open_file(target: str) -> SequenceFileReader:
    from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader

    return SequenceFileReader(_remote_source(target) if "://" in target else _local_source(Path(target)))


def _local_source(path: Path) -> RangedSource:
    from crawlctl.pipeline.formats.source import PathSource
    from crawlctl.pipeline.state.layout import DATA

    return PathSource(path / DATA if path.is_dir() else path)


def _remote_source(uri: str) -> RangedSource:
    from crawlctl.pipeline.errors import MissingFile
    from crawlctl.pipeline.state.layout import DATA
    from crawlctl.pipeline.store.open import open_store

    folder, _, name = uri.rstrip("/").rpartition("/")
    store = open_store(folder)
    try:
        return store.open(name)
    except MissingFile:
        return store.open(f"{name}/{DATA}")
