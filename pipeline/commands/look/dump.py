"""`crawlctl dump`: records as lines, from a table of the crawl or from any SequenceFile or MapFile."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import click

from crawlctl.pipeline.commands.shared.common import CrawlctlCommand, Session, json_option, pass_session, say
from crawlctl.pipeline.commands.shared.completing import complete_names
from crawlctl.pipeline.commands.shared.output import say_json

TABLES = ("webdb", "hosts", "captures", "blocks", "docs", "postings", "links", "terms", "dictionary")


@click.command("dump", cls=CrawlctlCommand)
@click.argument("what", metavar="TABLE|FILE", shell_complete=complete_names(TABLES, or_file=True))
@click.option("--partition", type=click.IntRange(min=0), help="Print only this partition of a table.")
@click.option("--limit", type=click.IntRange(min=0), help="Stop after this many records.")
@click.option("--header", is_flag=True, help="Print the header of a file, not its records.")
@json_option
@pass_session
def command(
    session: Session, *, what: str, partition: int | None, limit: int | None, header: bool, as_json: bool
) -> None:
    """Print the records of a table or a file, one per line.

    The tables are webdb, hosts, captures, blocks, docs, links, terms, dictionary and postings (only of runs
    that are not merged yet). A file is a SequenceFile or the folder of a MapFile, given as a path or an
    hdfs:// or s3:// URI. A TAB separates key and value. Values that are not text are shown in base64. For a
    look into a crawl there are `crawlctl pages`, `crawlctl hosts`, `crawlctl errors` and `crawlctl show URL`.

    \b
    Example:
      crawlctl dump webdb --limit 10
      crawlctl dump --json part-r-00000
    """
    from crawlctl.pipeline.commands.shared.readable_records import header_line, record_lines
    from crawlctl.pipeline.crawl.reports.dumped_files import open_file, open_table
    from crawlctl.pipeline.state.snapshots import load_current

    if what in TABLES and not Path(what).exists():
        store = session.store()
        readers = open_table(store, load_current(store), what, partition)
    else:
        readers = iter([open_file(_file(what))])

    lines = (header_line(reader.header) for reader in readers) if header else record_lines(readers, as_json)
    for line in islice(lines, limit):
        say_json(line) if as_json or header else say(line)


def _file(what: str) -> str:
    """Return a path or URI; a word that is neither a table nor a file is an error that names the tables."""
    if "/" in what or Path(what).exists():
        return what
    hint = "; rounds are shown by `crawlctl status --history`" if what == "history" else ""
    raise click.UsageError(f"there is no table and no file called {what}; tables: {', '.join(TABLES)}{hint}")
