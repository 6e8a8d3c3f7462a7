"""`crawlctl run`: crawl, round by round."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlCommand,
    Session,
    json_option,
    pass_session,
    print_json,
    runner_options,
    say,
    takes_setting,
)
from crawlctl.pipeline.commands.shared.completing import complete_file
from crawlctl.pipeline.errors import CrawlctlError, SeedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.crawl.rank_due import RankMode
    from crawlctl.pipeline.crawl.reports.run_report import RunReport


@click.command("run", cls=CrawlctlCommand)
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--iterations",
    type=click.IntRange(min=1),
    help="Number of rounds (default: 1; with URLs 2; with --depth one more than the depth).",
)
@click.option("--until-empty", is_flag=True, help="Run until no page is due, or for --iterations rounds.")
@click.option(
    "--seed",
    "seed_file",
    metavar="FILE",
    shell_complete=complete_file,
    help="Add the URLs of this file first; create the crawl if there is none.",
)
@takes_setting("--depth", key="scope.max_depth", type=int, help="How many links to follow from a seed.")
@takes_setting(
    "--include",
    key="scope.include",
    multiple=True,
    metavar="RULE",
    help="Crawl only URLs that match a rule, such as 'https://example.org/docs/*'; can be repeated.",
)
@takes_setting(
    "--exclude",
    key="scope.exclude",
    multiple=True,
    metavar="RULE",
    help="Leave out URLs that match a rule; can be repeated.",
)
@takes_setting("--pages", key="round.max_pages", type=int, help="The largest number of pages per round.")
@takes_setting(
    "--time",
    key="round.max_time",
    metavar="DURATION",
    help="The longest time to fetch per round, such as 30min.",
)
@takes_setting(
    "--delay",
    key="politeness.delay",
    metavar="DURATION",
    help="The pause between two requests to a host, such as 2s.",
)
@takes_setting(
    "--contact",
    key="fetch.contact",
    metavar="ADDRESS",
    help="Your web or mail address, which is sent to the sites; nothing is fetched without one.",
)
@takes_setting(
    "--proxy", key="fetch.proxy", metavar="URL", help="A proxy, such as http://proxy.example:3128."
)
@runner_options("Tasks at the same time in all steps but fetching.")
@takes_setting(
    "--rank-every",
    key="rank.every",
    metavar="ROUNDS",
    help="Rank after this many rounds; 0: only at the end.",
)
@click.option(
    "--rank",
    type=click.Choice(["auto", "now", "off"]),
    default="auto",
    help="Rank at the end: if enough has changed (auto, see rank.share), in any case, or not at all.",
)
@json_option
@pass_session
def command(
    session: Session,
    *,
    urls: tuple[str, ...],
    iterations: int | None,
    until_empty: bool,
    seed_file: str | None,
    rank: RankMode,
    as_json: bool,
) -> None:
    """Crawl, round by round.

    URLs are the seeds: the first pages of the crawl, which is created if there is none. The crawl stays on
    the hosts of its seeds, unless you give --include. A round fetches the pages that are due, updates the
    WebDB and the index, and commits a snapshot; the next round fetches the pages that they link to. (A long
    round begins with them where a host has nothing else to do: round.follow_outlinks.) The run ends early if
    no page is due. If a run was stopped or killed, the next one continues it, and runs only the
    rounds that are left of --iterations. At the end it prints how many pages were fetched or failed, what is
    left, and what to type next.

    A flag for a setting of the crawl itself, such as --depth or --include, changes the crawl for good (see
    `crawlctl config`). Exit codes: 0 success, 3 pages were due but nothing was fetched, 75 the store is in
    use by another run, 130 stopped by Ctrl-C, 143 stopped by SIGTERM.

    \b
    Example:
      crawlctl run https://docs.python.org/3/library/ --contact mailto:you@example.org
      crawlctl run https://example.org/docs/ --depth 2 --include 'https://example.org/docs/*'
      crawlctl run --iterations 3 --seed seed.txt
      crawlctl run --until-empty --store s3://my-bucket/crawl --runner emr
    """
    from crawlctl.pipeline.crawl.reports.run_report import RunReport

    report = RunReport(session.config.politeness.robots_retry)
    options = (["--iterations", str(iterations)] if iterations else []) + ["--until-empty"] * until_empty
    show = partial(_print, session, report, options, as_json=as_json)
    rounds = iterations or (None if until_empty else _rounds(session, urls))
    with _shown_at_the_end(show):
        _run(
            session, rounds, _seeds(session, urls, seed_file), report, rank, has_number=iterations is not None
        )


@contextmanager
def _shown_at_the_end(show: Callable[..., None]) -> Iterator[None]:
    """Show what the run has done when the block ends: finished, stopped by the user, or failed."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        with suppress(CrawlctlError):
            show(is_stopped=True)
        raise
    except (CrawlctlError, OSError):
        with suppress(CrawlctlError):
            show(has_failed=True)
        raise
    show()


def _rounds(session: Session, urls: tuple[str, ...]) -> int:
    """Return how many rounds to run without --iterations: enough for --depth, or for a first look."""
    if session.flag_of("scope.max_depth") is not None:
        return session.config.scope.max_depth + 1
    return 2 if urls else 1


def _seeds(session: Session, urls: tuple[str, ...], seed_file: str | None) -> tuple[str, ...]:
    """Return the seeds of the command line and of the seed file; all of them must be good, and in scope."""
    from crawlctl.pipeline.crawl.seeding import folder_hint, within_scope
    from crawlctl.pipeline.http.curl_options import user_agent
    from crawlctl.pipeline.urls.seeds import read_seeds
    from crawlctl.pipeline.urls.typed_seeds import read_words

    config = session.config
    typed = read_words(urls, config.urls.strip_parameters)
    if typed.files:
        name = typed.files[0]
        raise SeedError(f"{name} is not a URL; write `--seed {name}` if it is a file of URLs, else https://…")
    groups = [typed.seeds] if urls else []
    if seed_file is not None:
        groups.append(read_seeds(Path(seed_file), config.urls.strip_parameters))
    found = [within_scope(seeds, config.scope).require_all_good("nothing was added") for seeds in groups]
    user_agent(config.fetch)  # raises an error if the contact is missing, before anything is written
    for line in (*typed.notices, *folder_hint(typed.seeds.urls, config.scope)):
        say(line, err=True)
    return tuple(url for seeds in found for url in seeds.urls)


def _run(
    session: Session,
    rounds: int | None,
    seeds: tuple[str, ...],
    report: RunReport,
    rank: RankMode,
    *,
    has_number: bool,
) -> None:
    from crawlctl.pipeline.crawl.rounds import run_rounds
    from crawlctl.pipeline.crawl.seeding import partitions_of

    config = session.config
    run_rounds(
        session.work(),
        iterations=rounds,
        partitions=partitions_of(config),
        seeds=seeds,
        changes=session.changes,
        report=report,
        has_number=has_number,
        rank=rank,
    )


def _print(
    session: Session,
    report: RunReport,
    options: list[str],
    *,
    as_json: bool,
    is_stopped: bool = False,
    has_failed: bool = False,
) -> None:
    """Print the report of the run; if it failed, the error message that follows says what to do next."""
    from crawlctl.pipeline.crawl.reports.run_summary import next_command, summary_json, summary_lines
    from crawlctl.pipeline.terminal.width import output_columns

    if not report.has_begun:
        return
    end = report.close(session.store())
    following = next_command(end, options, session.store_words, is_stopped=is_stopped)
    if has_failed:
        following = ""
    if as_json:
        print_json(summary_json(report, end, following))
    else:
        say("\n".join(summary_lines(report, end, output_columns(), following)))
