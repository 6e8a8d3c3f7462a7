"""`crawlctl gc`: delete old snapshots and files that are no longer used."""

from __future__ import annotations

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


@click.command("gc")
@click.option("--dry-run", is_flag=True, help="Print which files would be deleted, but delete nothing.")
@takes_setting("--keep", key="gc.keep_snapshots", type=int, help="How many of the newest snapshots to keep.")
@takes_setting(
    "--min-age", key="gc.min_age", metavar="DURATION", help="Keep files younger than this, such as 1h."
)
@store_option
@json_option
@pass_session
def command(session: Session, dry_run: bool, as_json: bool) -> None:
    """Delete old snapshots and files that are no longer used.

    \b
    Example:
      crawlctl gc --keep 2 --min-age 1h --dry-run
    """
    from crawlctl.pipeline.crawl.collecting import collect_garbage

    collected = collect_garbage(session.work(), dry_run=dry_run)
    names = [file.name for file in (*collected.files, *collected.leftovers)]
    if as_json:
        print_json(
            {"dry_run": dry_run, "snapshots": collected.snapshots, "files": names, "bytes": collected.bytes}
        )
        return
    for name in names if dry_run else ():
        say(name)
    verb = "would delete" if dry_run else "deleted"
    say(f"{verb} {len(collected.snapshots)} snapshots, {len(names)} files, {collected.bytes} bytes")
    if young := collected.young:
        size = sum(file.bytes for file in young)
        say(
            f"{len(young)} more files ({size} bytes) are of no use but younger than gc.min_age = "
            f"{session.config.gc.min_age}; where no run is under way, `crawlctl gc --min-age 0s` deletes them"
        )
