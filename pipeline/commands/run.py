"""`crawlctl run`: crawl, round by round."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crawlctl.pipeline.commands.shared.common import (
    Session,
    json_option,
    pass_session,
    print_json,
    say,
    store_option,
    takes_setting,
)
from crawlctl.pipeline.errors import CrawlctlError

if TYPE_CHECKING:
    from crawlctl.pipeline.crawl.reports.round_report import RoundReport


@click.command("run")
@click.option("--iterations", type=click.IntRange(min=1), help="Number of rounds (default 1).")
@click.option("--until-empty", is_flag=True, help="Run until no page is due, or for --iterations rounds.")
@click.option(
    "--seed", "seed_file", metavar="FILE", help="Add these seeds first; create the crawl if there is none."
)
@takes_setting(
    "--runner",
    key="runner.name",
    metavar="NAME",
    help="Where jobs run: forked, inline, local, hadoop, emr or spark.",
)
@takes_setting(
    "--workers", key="runner.workers", type=int, help="Tasks at the same time in all steps but fetching."
)
@takes_setting("--pages", key="round.max_pages", type=int, help="The largest number of pages per round.")
@takes_setting(
    "--time",
    key="round.max_time",
    metavar="DURATION",
    help="The longest time to fetch per round, such as 30min.",
)
@takes_setting(
    "--rank-every",
    key="rank.every",
    metavar="ROUNDS",
    help="Rank after this many rounds; 0: only at the end.",
)
@store_option
@json_option
@pass_session
def command(
    session: Session, *, iterations: int | None, until_empty: bool, seed_file: str | None, as_json: bool
) -> None:
    """Crawl, round by round.

    A round fetches the pages that are due, updates the WebDB and the index, and commits a snapshot. The run
    ends early if no page is due. If a run was stopped or killed, the next one continues it. Exit codes: 0
    success, 75 the store is in use by another run, 130 stopped by Ctrl-C, 143 stopped by SIGTERM.

    \b
    Example:
      crawlctl run --iterations 3 --seed seed.txt
      crawlctl run --until-empty --store s3://my-bucket/crawl --runner emr
    """
    reports: list[RoundReport] = []
    try:
        _run(session, None if until_empty and iterations is None else iterations or 1, seed_file, reports)
    except CrawlctlError:
        if reports:
            _print(reports, as_json)
        raise
    except (KeyboardInterrupt, SystemExit):
        _print(reports, as_json)
        raise
    _print(reports, as_json)


def _run(session: Session, rounds: int | None, seed_file: str | None, reports: list[RoundReport]) -> None:
    from crawlctl.pipeline.crawl.rounds import run_rounds
    from crawlctl.pipeline.crawl.seeding import partitions_of
    from crawlctl.pipeline.urls.seeds import read_seeds

    config = session.config
    seeds = read_seeds(Path(seed_file), config.urls.strip_parameters) if seed_file else None
    run_rounds(
        session.work(),
        iterations=rounds,
        partitions=partitions_of(config),
        seeds=seeds.require_all_good().urls if seeds else (),
        done=reports.append,
    )


def _print(reports: list[RoundReport], as_json: bool) -> None:
    from crawlctl.pipeline.crawl.reports.round_report import round_table

    if as_json:
        print_json([vars(report) for report in reports])
    elif reports:
        say(round_table(reports))
