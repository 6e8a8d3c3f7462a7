"""`crawlctl import-warc`: index web archives without crawling."""

from __future__ import annotations

import sys

import click

from crawlctl.pipeline.commands.shared.common import (
    Session,
    json_option,
    pass_session,
    print_fields,
    print_json,
    store_option,
    takes_setting,
)


@click.command("import-warc")
@click.argument("archives", nargs=-1, required=True, metavar="FILE...")
@takes_setting("--runner", key="runner.name", metavar="NAME", help="forked, inline, local, hadoop or emr.")
@takes_setting("--workers", key="runner.workers", type=int, help="Archives to read at once.")
@store_option
@json_option
@pass_session
def command(session: Session, archives: tuple[str, ...], as_json: bool) -> None:
    """Index web archives without crawling.

    The pages in WARC and ARC files, plain or packed with gzip or Zstandard, become part of the crawl as if a
    round had fetched them when they were archived: those the crawl knows as fresh are left out, so an archive
    may be imported twice. An empty store becomes a crawl, as by `init`. Links are taken up as far as the
    scope of the crawl goes. A page outside of it can be searched until a later run looks at it again. An
    archive is a path or an hdfs:// or s3:// URI. What could not be read is counted by its reason.

    \b
    Example:
      crawlctl import-warc old-crawl.warc.gz
      crawlctl import-warc s3://commoncrawl/crawl-data/CC-MAIN-2024-22/segments/1/warc/00000.warc.gz
    """
    from crawlctl.jobs.fetch_index import FetchIndex
    from crawlctl.pipeline.commands.init import default_partitions
    from crawlctl.pipeline.crawl.importing import import_archives
    from crawlctl.pipeline.crawl.round_steps import Crew
    from crawlctl.pipeline.progress.display import display_for

    crew = Crew(session.store(), session.config, display_for(sys.stderr), FetchIndex)
    partitions = session.config.partitions or default_partitions()
    report = import_archives(crew, archives, partitions=partitions)
    counts = dict(sorted(report.counts.items()))
    fields = {"round": report.round, **counts, "seconds": round(report.seconds, 1)}
    if as_json:
        print_json(fields)
    else:
        print_fields({**fields, "round": report.round or "none: no page was new"})
