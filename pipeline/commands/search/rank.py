"""`crawlctl rank`: rank the pages by the links between them, and print the first."""

from __future__ import annotations

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
from crawlctl.pipeline.commands.shared.completing import complete_names


@click.command("rank", cls=CrawlctlCommand)
@takes_setting(
    "--damping",
    key="rank.damping",
    type=float,
    help="Probability that a reader follows a link (default 0.85).",
)
@takes_setting(
    "--tolerance",
    key="rank.tolerance",
    type=float,
    help="Largest error of all ranks together (default 1e-6).",
)
@takes_setting(
    "--teleport",
    key="rank.teleport",
    metavar="seed|FILE",
    shell_complete=complete_names(["seed", "uniform"], or_file=True),
    help="Prefer pages near the seeds, or near the URLs in a file.",
)
@runner_options()
@click.option("--by", type=click.Choice(["url", "host", "domain"]), default="url", help="What to print.")
@click.option("--top", type=click.IntRange(min=0), default=20, show_default=True, help="How many to print.")
@click.option("--show", is_flag=True, help="Print the existing ranks and do not rank again.")
@json_option
@pass_session
def command(session: Session, *, by: str, top: int, show: bool, as_json: bool) -> None:
    """Rank pages, hosts and domains by the links between them.

    The ranks of all pages add up to 1. They influence the order of search results and which pages are fetched
    first. `crawlctl run` ranks by itself when enough has changed (see the settings `rank.*`).

    \b
    Example:
      crawlctl rank --by host --top 10
      crawlctl rank --teleport my-pages.txt
    """
    from crawlctl.pipeline.crawl.ranking import rank_now
    from crawlctl.pipeline.rank.publish.rank_tables import first_ranks
    from crawlctl.pipeline.state.snapshots import load_current

    store = session.store()
    snapshot = load_current(store) if show else rank_now(session.work())
    rows = first_ranks(store, snapshot.files, by, top)
    if as_json:
        print_json([{by: name, "rank": rank} for name, rank in rows])
        return
    for name, rank in rows:
        say(f"{rank:.3e}  {name}")
