"""`crawlctl import-warc`: index web archives without crawling."""

from __future__ import annotations

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlCommand,
    Session,
    json_option,
    pass_session,
    print_fields,
    print_json,
    runner_options,
)
from crawlctl.pipeline.commands.shared.completing import complete_file


@click.command("import-warc", cls=CrawlctlCommand)
@click.argument("archives", nargs=-1, required=True, metavar="FILE...", shell_complete=complete_file)
@runner_options("Archives to read at the same time.")
@json_option
@pass_session
def command(session: Session, archives: tuple[str, ...], as_json: bool) -> None:
    """Index web archives without crawling.

    An archive is a WARC or ARC file, plain or compressed with gzip or Zstandard, given as a path or an
    hdfs:// or s3:// URI. Its pages become part of the crawl, as if a round had fetched them on the day they
    were archived. Pages of which the crawl has a newer version are left out, so you can import an archive
    twice. If the store is empty, a crawl is created as by `init`. Links are followed only inside the scope of
    the crawl. Imported pages outside the scope are not visited again, and can be searched until you remove
    them with `crawlctl forget`. Records that could not be read are counted by reason. If one of the files is
    no web archive, nothing is imported.

    \b
    Example:
      crawlctl import-warc old-crawl.warc.gz
      crawlctl import-warc s3://commoncrawl/crawl-data/CC-MAIN-2024-22/segments/1/warc/00000.warc.gz
    """
    from crawlctl.pipeline.crawl.importing import import_archives
    from crawlctl.pipeline.crawl.seeding import partitions_of

    work = session.work()
    report = import_archives(work, archives, partitions=partitions_of(work.config))
    counts = dict(sorted(report.counts.items()))
    fields = {"round": report.round, **counts, "seconds": round(report.seconds, 1)}
    if as_json:
        print_json(fields)
    else:
        print_fields({**fields, "round": report.round or "none: no page was new"})
