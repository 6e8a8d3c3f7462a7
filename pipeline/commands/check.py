"""`crawlctl check`: check every file of the crawl by its checksum."""

from __future__ import annotations

import click

from crawlctl.pipeline.commands.shared.common import (
    Session,
    json_option,
    pass_session,
    print_json,
    say,
    store_option,
)
from crawlctl.pipeline.errors import EXIT_ERROR


@click.command("check")
@store_option
@json_option
@pass_session
def command(session: Session, as_json: bool) -> int:
    """Check every file by its checksum.

    This reads all files of the current snapshot and compares their size and SHA-256 with the recorded ones.
    For each damaged or missing file, a line says what to do about it, and the exit code is 1. Nothing is
    changed.

    \b
    Example:
      crawlctl check --store s3://bucket/crawl
    """
    from crawlctl.pipeline.copies.soundness import unsound_files
    from crawlctl.pipeline.state.snapshots import load_current

    store = session.store()
    snapshot = load_current(store)
    found = unsound_files(store, snapshot)
    files, size = len(snapshot.files), sum(entry.bytes for entry in snapshot.files)
    if as_json:
        unsound = [
            {"file": one.entry.name, "kind": one.entry.kind, "reason": one.reason, "remedy": one.remedy}
            for one in found
        ]
        print_json({"snapshot": snapshot.number, "files": files, "bytes": size, "unsound": unsound})
        return EXIT_ERROR if found else 0
    for one in found:
        say(f"{one.entry.name}: {one.reason}; {one.remedy}")
    outcome = f"{len(found)} of them damaged or missing" if found else "all sound"
    say(f"snapshot {snapshot.number}: {files} files, {size} bytes, {outcome}")
    return EXIT_ERROR if found else 0
