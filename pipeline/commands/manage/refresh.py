"""`crawlctl refresh`: visit pages again with the next run."""

from __future__ import annotations

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
)
from crawlctl.pipeline.terminal.counted import by_number, counted

if TYPE_CHECKING:
    from crawlctl.pipeline.crawl.changes.refreshing import Refreshed


@click.command("refresh", cls=CrawlctlCommand)
@click.argument("pages", nargs=-1, required=True, metavar="URL|HOST|PREFIX...")
@click.option(
    "--whole",
    is_flag=True,
    help="Fetch pages even if they have not changed, so that new rules for sites apply to them.",
)
@click.option("--dry-run", is_flag=True, help="Count the pages, but change nothing.")
@runner_options()
@json_option
@pass_session
def command(session: Session, *, pages: tuple[str, ...], whole: bool, dry_run: bool, as_json: bool) -> None:
    """Make known pages due now, so that the next run visits them.

    A URL means this page alone. A URL that ends in / or * means all URLs that begin like this. A host such as
    example.org means all its pages. Pages that are gone or have failed are tried again too, and a host that
    is left alone after failures is asked at once. A page that has not changed costs one short answer (304);
    with --whole it is sent and read again, as after a change of the setting `sites` or of `parse`.

    \b
    Example:
      crawlctl refresh https://example.org/news/
      crawlctl run
    """
    from crawlctl.pipeline.crawl.changes.named_pages import rules_of_targets
    from crawlctl.pipeline.crawl.changes.refreshing import refresh, would_refresh

    work = session.work()
    rules = rules_of_targets(pages, work.config)
    refreshed = would_refresh(work, rules) if dry_run else refresh(work, rules, " ".join(pages), whole=whole)
    if as_json:
        print_json({"dry_run": dry_run, **vars(refreshed)})
    elif dry_run:
        _print_would(refreshed)
    else:
        _print(session, refreshed)


def _print_would(refreshed: Refreshed) -> None:
    say(f"would make {counted(refreshed.due, 'URL')} due now; nothing was changed")
    if refreshed.outside:
        outside = counted(refreshed.outside, "other URL")
        say(f"outside the scope, so not to be visited: {outside}; `crawlctl explain URL` names the rule")


def _print(session: Session, refreshed: Refreshed) -> None:
    due, undo = counted(refreshed.due, "URL"), session.typed("rollback", str(refreshed.undo))
    them = by_number(refreshed.due, "it", "them")
    say(f"due now: {due}; `{session.typed('run')}` visits {them}; undo: {undo}")
    if refreshed.outside:
        outside = counted(refreshed.outside, "other URL")
        say(f"outside the scope, so not visited: {outside}; `crawlctl explain URL` names the rule")
    if refreshed.open_round:
        say(f"round {refreshed.open_round} is not finished: what it has fetched is not fetched once more")
