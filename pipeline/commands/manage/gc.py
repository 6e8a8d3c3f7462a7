"""`crawlctl gc`: delete old snapshots and files that are no longer used."""

from __future__ import annotations

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlCommand,
    Session,
    json_option,
    pass_session,
    print_json,
    say,
    takes_setting,
)
from crawlctl.pipeline.terminal.counted import counted, sized


@click.command("gc", cls=CrawlctlCommand)
@click.option("--dry-run", is_flag=True, help="Print which files would be deleted, but delete nothing.")
@takes_setting("--keep", key="gc.keep_snapshots", type=int, help="How many of the newest snapshots to keep.")
@takes_setting(
    "--min-age", key="gc.min_age", metavar="DURATION", help="Keep files younger than this, such as 1h."
)
@json_option
@pass_session
def command(session: Session, dry_run: bool, as_json: bool) -> None:
    """Delete old snapshots and files that are no longer used.

    It also deletes the data of forgotten pages (`scope.forgotten`) in the WebDB, the archive and the index;
    if there are any, it deletes all older snapshots too.

    \b
    Example:
      crawlctl gc --keep 2 --min-age 1h --dry-run
    """
    from crawlctl.pipeline.crawl.upkeep.collecting import collect_garbage

    work = session.work_despite_damage()
    collected, purged = collect_garbage(work, dry_run=dry_run)
    names = [file.name for file in (*collected.files, *collected.leftovers)]
    if as_json:
        fields = {
            "dry_run": dry_run,
            "snapshots": collected.snapshots,
            "files": names,
            "bytes": collected.bytes,
        }
        print_json({**fields, "forgotten_pages": purged.pages if purged else 0})
        return
    for name in names if dry_run else ():
        say(name)
    verb = "would delete" if dry_run else "deleted"
    snapshots, files = counted(len(collected.snapshots), "snapshot"), counted(len(names), "file")
    say(f"{verb} {snapshots}, {files}, {sized(collected.bytes)}")
    if young := collected.young:
        more = counted(len(young), "more file is", "more files are")
        size, min_age = sized(sum(file.bytes for file in young)), session.given.config.gc.min_age
        say(
            f"{more} of no use ({size}) but younger than gc.min_age = {min_age}; where no run is under way, "
            f"`{session.typed('gc', '--min-age', '0s')}` deletes them"
        )
    if purged is not None:
        records = counted(purged.records, "archived record")
        older = counted(len(purged.snapshots), "older snapshot")
        say(f"deleted what was left of {counted(purged.pages, 'forgotten page')}: {records} and {older}")
