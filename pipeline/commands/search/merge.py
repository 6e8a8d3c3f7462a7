"""`crawlctl merge`: bring the index up to date now."""

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
    takes_setting,
)


@click.command("merge", cls=CrawlctlCommand)
@click.option("--full", is_flag=True, help="Rewrite the whole index into as few segments as possible.")
@runner_options()
@takes_setting("--memory", key="index.memory", metavar="SIZE", help="Memory of one task, such as 1GiB.")
@json_option
@pass_session
def command(session: Session, full: bool, as_json: bool) -> None:
    """Merge new pages into the index now.

    A run does this by itself after rounds (see the setting index.merge_every). With --full, the space of
    deleted documents is freed, and changed index settings apply to the whole index.

    \b
    Example:
      crawlctl merge --full
    """
    from crawlctl.pipeline.crawl.indexing import merge_now
    from crawlctl.pipeline.index.statistics import summary_of
    from crawlctl.pipeline.state.snapshots import load_current

    work = session.work()
    snapshot = merge_now(work, full=full)
    if snapshot is None:
        work.display.say("nothing has changed since the last merge")
    found = summary_of((snapshot or load_current(work.store)).files)
    print_json(found) if as_json else print_fields({**found})
