"""`crawlctl copy`: copy a crawl to another store, or into another number of partitions."""

from __future__ import annotations

import sys

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
from crawlctl.pipeline.commands.shared.completing import complete_folder


@click.command("copy", cls=CrawlctlCommand)
@click.argument("source", metavar="SRC", shell_complete=complete_folder)
@click.argument("destination", metavar="DST", shell_complete=complete_folder)
@click.option(
    "--partitions", type=click.IntRange(min=1), help="Number of partitions of the copy (default: as in SRC)."
)
@click.option("--verify", is_flag=True, help="Also check files that were copied before.")
@runner_options("Partitions to write at the same time.")
@json_option
@pass_session
def command(
    session: Session,
    *,
    source: str,
    destination: str,
    partitions: int | None,
    verify: bool,
    as_json: bool,
) -> None:
    """Copy a crawl to another store.

    SRC and DST are folders, s3:// or hdfs:// URIs. The SHA-256 of every file is checked during the copy. To
    continue a copy that was stopped, or to bring an old copy up to date, run the same command again. With
    another number of partitions a job rewrites the crawl; searches in the copy give the same results. An
    unfinished round is not copied.

    \b
    Example:
      crawlctl copy crawl s3://bucket/crawl
      crawlctl copy crawl s3://bucket/crawl --partitions 64
    """
    from crawlctl.pipeline.crawl.copying import copy_crawl
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.progress.choice import display_for
    from crawlctl.pipeline.store.open import open_store

    work = Work(open_store(source), session.given.config, display_for(sys.stderr))
    report = copy_crawl(work, open_store(destination), partitions=partitions, verify=verify)
    fields: dict[str, object] = {
        "snapshot": report.snapshot,
        "partitions": report.partitions,
        "copied": report.copied,
        "bytes": report.bytes,
        "there before": report.present,
        "rewritten": report.rewritten,
        "seconds": round(report.seconds, 1),
    }
    print_json(fields) if as_json else print_fields(fields)
