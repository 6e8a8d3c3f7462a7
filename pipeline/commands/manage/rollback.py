"""`crawlctl rollback`: list the snapshots, or make an older one current again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlCommand,
    Session,
    json_option,
    pass_session,
    print_json,
    say,
)
from crawlctl.pipeline.commands.shared.listing_options import moment, print_table
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from crawlctl.pipeline.crawl.changes.rolling_back import SnapshotRow

_HEADINGS = ("snapshot", "committed (UTC)", "round", "pages", "made by")


@click.command("rollback", cls=CrawlctlCommand)
@click.argument("number", required=False, type=click.IntRange(min=1), metavar="[SNAPSHOT]")
@click.option("--dry-run", is_flag=True, help="Say what would change, but change nothing.")
@json_option
@pass_session
def command(session: Session, *, number: int | None, dry_run: bool, as_json: bool) -> None:
    """List the snapshots, or make an older one current again.

    The crawl then has the pages, settings and ranks of that snapshot. They become a new snapshot, so a
    rollback can be undone too. How many snapshots exist depends on gc.keep_snapshots.

    \b
    Example:
      crawlctl rollback
      crawlctl rollback 41
    """
    if number is None:
        _list(session, as_json)
        return
    if dry_run:
        _try(session, number, as_json)
        return
    from crawlctl.pipeline.crawl.changes.rolling_back import roll_back

    done = roll_back(session.work(with_own=False), number)
    if as_json:
        print_json({"snapshot": done.snapshot.number, "undo": done.undo, "dropped_round": done.dropped_round})
        return
    say(
        f"the crawl is what it was in snapshot {number}; this is snapshot {done.snapshot.number}; "
        f"undo: {session.typed('rollback', str(done.undo))}"
    )
    if done.dropped_round:
        say(f"round {done.dropped_round}, which was not finished, is dropped: its pages are fetched again")


def _try(session: Session, number: int, as_json: bool) -> None:
    from crawlctl.pipeline.crawl.changes.rolling_back import would_roll_back

    current, wanted, dropped = would_roll_back(session.work(with_own=False), number)
    if as_json:
        print_json({"dry_run": True, "now": vars(current), "then": vars(wanted), "dropped_round": dropped})
        return
    say(
        f"would make the crawl what it was in snapshot {number} ({wanted.made_by}): "
        f"{counted(wanted.pages, 'page')} to search, now {current.pages:,}; "
        f"{counted(wanted.urls, 'known URL')}, now {current.urls:,}"
    )
    if dropped:
        say(f"round {dropped}, which is not finished, would be dropped, and its pages fetched again")
    say("nothing was changed")


def _list(session: Session, as_json: bool) -> None:
    from crawlctl.pipeline.crawl.changes.rolling_back import list_snapshots
    from crawlctl.pipeline.state.snapshots import load_current

    store = session.store()
    # read before the list, because it raises the right error if there is no crawl
    current = load_current(store).number
    rows = list(list_snapshots(store))
    if as_json:
        print_json([vars(row) for row in rows])
        return
    print_table(_HEADINGS, [_cells(row, is_current=row.number == current) for row in rows])


def _cells(row: SnapshotRow, *, is_current: bool) -> tuple[str, ...]:
    maker = f"{row.made_by} (current)" if is_current else row.made_by
    return str(row.number), moment(row.created), str(row.round), f"{row.pages:,}", maker
