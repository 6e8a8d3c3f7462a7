"""`crawlctl copy`: carry a crawl to another place, or into another number of partitions."""

from __future__ import annotations

import sys

import click

from crawlctl.pipeline.commands.shared.common import (
    Session,
    json_option,
    pass_session,
    print_fields,
    print_json,
    takes_setting,
)


@click.command("copy")
@click.argument("source", metavar="SRC")
@click.argument("destination", metavar="DST")
@click.option("--partitions", type=click.IntRange(min=1), help="Partitions of the copy (default: as SRC).")
@click.option("--verify", is_flag=True, help="Read files again that were copied before.")
@takes_setting("--runner", key="runner.name", metavar="NAME", help="forked, inline, local, hadoop or emr.")
@takes_setting("--workers", key="runner.workers", type=int, help="New partitions to write at once.")
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
    """Copy a crawl to another place.

    SRC and DST are folders, s3:// or hdfs:// URIs. Every file is checked by its SHA-256 on the way. A copy
    that was stopped goes on when the command is given again, and one that is behind its source is brought
    up to date. With another number of partitions a job writes the crawl anew, and the copy gives the same
    answers. A round that is not finished is left behind.

    \b
    Example:
      crawlctl copy crawl s3://bucket/crawl
      crawlctl copy crawl s3://bucket/crawl --partitions 64
    """
    from crawlctl.jobs.fetch_index import FetchIndex
    from crawlctl.pipeline.crawl.copying import copy_crawl
    from crawlctl.pipeline.crawl.round_steps import Crew
    from crawlctl.pipeline.progress.display import display_for
    from crawlctl.pipeline.store.open import open_store

    crew = Crew(open_store(source), session.config, display_for(sys.stderr), FetchIndex)
    report = copy_crawl(crew, open_store(destination), partitions=partitions, verify=verify)
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
