"""`crawlctl check`: check every file of the crawl, and repair what is damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from crawlctl.pipeline.errors import EXIT_ERROR
from crawlctl.pipeline.terminal.counted import by_number, counted, sized

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.crawl.upkeep.checking import Checked
    from crawlctl.pipeline.crawl.upkeep.repairing import Repaired
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.errors import DamagedSnapshot


@click.command("check", cls=CrawlctlCommand)
@click.option("--repair", "repairs", is_flag=True, help="Make again what is damaged, from what is sound.")
@click.option("--snapshot", "number", type=int, metavar="N", help="Check this snapshot, not the current one.")
@click.option("--all", "shows_all", is_flag=True, help="List the sound files too.")
@runner_options()
@json_option
@pass_session
def command(session: Session, repairs: bool, number: int | None, shows_all: bool, as_json: bool) -> int:
    """Check every file, and repair what is damaged.

    This reads all files of the current snapshot. It compares their size and SHA-256 with the recorded ones,
    and checks that files agree: the index must have a document for every live page, and all counters must be
    right. For each damaged, missing or wrong file it prints a line, and the exit code is then 1. Nothing is
    changed.

    With --repair, the index and the WebDB are rebuilt from sound files and from the archived pages. The
    result is a new snapshot. Pages that cannot be brought back are due at once, and their number is printed.

    \b
    Example:
      crawlctl check --store s3://bucket/crawl
      crawlctl check --repair
    """
    from crawlctl.pipeline.errors import DamagedSnapshot

    if repairs and number is not None:
        raise click.UsageError("--repair repairs the current snapshot; leave --snapshot out")
    work = session.work_despite_damage()
    try:
        if repairs:
            return _repair(work, as_json=as_json)
        return _check(work, number, shows_all=shows_all, as_json=as_json)
    except DamagedSnapshot as damaged:
        return _tell_way_back(work, damaged, as_json=as_json)


def _check(work: Work, number: int | None, *, shows_all: bool, as_json: bool) -> int:
    from crawlctl.pipeline.crawl.upkeep.checking import check_snapshot
    from crawlctl.pipeline.state.snapshots import load_current, load_snapshot

    store = work.store
    checked = check_snapshot(work, load_current(store) if number is None else load_snapshot(store, number))
    if as_json:
        print_json({**_fields(checked), "remedy": _remedy(work, checked)})
    else:
        _print(checked, shows_all=shows_all)
        if checked.findings:
            say(_remedy(work, checked))
    return EXIT_ERROR if checked.findings else 0


def _print(checked: Checked, *, shows_all: bool) -> None:
    for one in checked.findings:
        say(f"{one.file}: {one.reason}")
    bad = {one.file for one in checked.findings}
    for entry in checked.snapshot.files if shows_all else ():
        if entry.name not in bad:
            say(f"{entry.name}: sound, {sized(entry.bytes)}")
    outcome = f"{len(bad)} of them damaged, missing or wrong" if bad else "all sound"
    files = counted(len(checked.snapshot.files), "file")
    say(f"snapshot {checked.snapshot.number}: {files}, {sized(checked.bytes)}, {outcome}")


def _fields(checked: Checked) -> dict[str, Any]:
    bad = {one.file for one in checked.findings}
    return {
        "snapshot": checked.snapshot.number,
        "files": len(checked.snapshot.files),
        "bytes": checked.bytes,
        "unsound": [
            {"file": one.file, "kind": one.kind, "fault": one.fault, "reason": one.reason}
            for one in checked.findings
        ],
        "sound": [entry.name for entry in checked.snapshot.files if entry.name not in bad],
    }


def _remedy(work: Work, checked: Checked) -> str:
    """Return what to type next; a copy can get damaged files again from the crawl it was made from."""
    from crawlctl.pipeline.copies.copy_records import source_of_copy

    if not checked.findings:
        return ""
    store = work.store
    source = source_of_copy(store, checked.snapshot)
    if source:
        return f"bring them again with `crawlctl copy {source} {store.uri} --verify`"
    if _are_settings_lost(work, checked):
        return (
            f"write the settings anew with `crawlctl config set --anew --store {store.uri}`, then check again"
        )
    return f"repair the crawl with `crawlctl check --repair --store {store.uri}`"


def _are_settings_lost(work: Work, checked: Checked) -> bool:
    """Return whether the crawl's own settings are damaged and a repair cannot restore them."""
    from crawlctl.pipeline.crawl.changes.sound_settings import find_settings
    from crawlctl.pipeline.state.kinds import SETTINGS

    if all(one.kind != SETTINGS for one in checked.findings):
        return False
    return find_settings(work.store, checked.snapshot, work.config) is None


def _repair(work: Work, *, as_json: bool) -> int:
    from crawlctl.pipeline.crawl.upkeep.repairing import repair

    done = repair(work)
    if as_json:
        print_json(
            {
                **_fields(done.checked),
                "repaired": done.snapshot and done.snapshot.number,
                "rows_lost": done.rows_lost,
                "partitions_with_older_rows": done.partitions_with_older_rows,
                "documents_lost": done.documents_lost,
                "records_lost": done.records_lost,
                "settings": done.settings and {"snapshot": done.settings.snapshot},
                "archives_listed": done.listed,
                "history_rows_lost": done.history_lost,
                "imported_pages_lost": done.imported_lost,
                "imported_answers_lost": done.places_lost,
            }
        )
        return 0
    _print(done.checked, shows_all=False)
    for line in _report(done):
        say(line)
    return 0


def _report(done: Repaired) -> list[str]:
    if done.snapshot is None:
        return [] if done.checked.findings else ["there is nothing to repair"]
    lines = [f"repaired: snapshot {done.snapshot.number} has these files again, or does without them"]
    if done.listed:
        archives = counted(done.listed, "archive")
        lines.append(f"{archives} from before there was a table of captures: their pages are listed now")
    if not done.checked.findings:
        return lines[1:]
    return [*lines, *(list(_losses(done)) or ["nothing was lost"])]


def _losses(done: Repaired) -> Iterator[str]:
    """Yield a line for each kind of loss that a repair could not restore."""
    if done.rows_lost:
        rows = counted(done.rows_lost, "row of the WebDB was", "rows of the WebDB were")
        yield f"{rows} lost; pages and links in the archive brought back what they tell"
    if done.partitions_with_older_rows:
        where = counted(done.partitions_with_older_rows, "partition")
        yield (
            f"in {where}, rows of the WebDB are as they were before their last change, except for what pages "
            "in the archive tell; some pages may be visited again sooner than planned"
        )
    due = done.documents_lost + done.records_lost
    if due:
        pages, lost = counted(due, "page is", "pages are"), counted(done.records_lost, "is", "are")
        yield (
            f"{pages} due again: {done.documents_lost} cannot be searched until then, and {lost} missing in "
            f"the archive; fetch {by_number(due, 'it', 'them')} with `crawlctl run`"
        )
    if done.imported_lost:
        pages = counted(done.imported_lost, "imported page")
        yield f"{pages} cannot be searched until you import the archives again with `crawlctl import-warc`"
    if done.places_lost:
        answers = counted(done.places_lost, "imported answer was", "imported answers were")
        yield (
            f"{answers} lost from the table of captures: `crawlctl show --raw` and `crawlctl export` do not "
            "find them any more; a new crawl that imports the same archives has them"
        )
    if done.history_lost:
        rows = counted(done.history_lost, "row of the history was", "rows of the history were")
        commits = by_number(done.history_lost, "this commit", "these commits")
        yield f"{rows} lost: `crawlctl status --history` no longer has {commits}"
    if done.settings and done.settings.snapshot is not None:
        yield (
            f"the crawl's own settings are those of snapshot {done.settings.snapshot} again: what `config "
            "set`, `forget` or a flag of `run` has changed since is lost; look at them with `crawlctl "
            "config`, and forget such pages again, before the next run"
        )


def _tell_way_back(work: Work, damaged: DamagedSnapshot, *, as_json: bool) -> int:
    """Print which older snapshot is whole, if the current snapshot cannot be read."""
    from crawlctl.pipeline.crawl.upkeep.checking import newest_sound

    whole = newest_sound(work)
    remedy = "take it from a copy of the crawl: no older snapshot is whole"
    if whole is not None:
        remedy = (
            f"snapshot {whole.number} is whole: go back to it with `crawlctl rollback {whole.number} "
            f"--store {work.store.uri}`"
        )
    if as_json:
        found = {"file": damaged.name, "kind": "snapshots", "fault": "damaged", "reason": damaged.reason}
        print_json({"unsound": [found], "whole": whole and whole.number, "remedy": remedy})
    else:
        say(f"{damaged.name}: it is damaged: {damaged.reason}")
        say(remedy)
    return EXIT_ERROR
