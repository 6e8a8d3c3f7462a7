"""`crawlctl export`: give the archive to other programs, as an index (CDXJ) or as one file (WACZ)."""

from __future__ import annotations

from pathlib import Path
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
from crawlctl.pipeline.commands.shared.listing_options import host_option
from crawlctl.pipeline.crawl.exports.formats import FORMATS
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN_FOLDERS = 3
_NAMES = tuple(FORMATS)


@click.command("export", cls=CrawlctlCommand)
@click.option("--to", "form", type=click.Choice(_NAMES), required=True, help="The format of the file.")
@click.option(
    *("-o", "--output"),
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="The file to write.",
)
@host_option
@click.option("--prefix", metavar="URL", help="Only pages whose URL begins with this one.")
@json_option
@pass_session
def command(
    session: Session, *, form: str, output: Path, host: str | None, prefix: str | None, as_json: bool
) -> None:
    """Write the archive to a file for other programs.

    cdxj is an index of the archives (WARC files) in the store; give a program such as pywb the folder of the
    store, so that it finds them. wacz is one file with index, archives and pages, which ReplayWeb.page shows
    in a browser. Imported pages are in your own archives: wacz leaves them out, and cdxj has only the file
    names of these archives; `crawlctl show --captures URL` prints their folders.

    \b
    Example:
      crawlctl export --to wacz -o docs.wacz --host docs.python.org
      crawlctl export --to cdxj -o index.cdxj
    """
    from crawlctl.pipeline.crawl.exports.export_file import export_to_file
    from crawlctl.pipeline.crawl.exports.exported_captures import Chosen
    from crawlctl.pipeline.state.snapshots import load_current
    from crawlctl.pipeline.urls.canonical import canonical

    config, store = session.config, session.store()
    begins = prefix and canonical(prefix, config.urls.strip_parameters)
    chosen = Chosen(host, begins)
    snapshot = load_current(store)
    done = export_to_file(store, snapshot, chosen, output, form=form, runner=config.runner)
    if as_json:
        print_json({"file": str(output), "bytes": output.stat().st_size, **vars(done)})
        return
    answers, pages = counted(done.captures, "answer"), counted(done.pages, "page")
    say(f"{output}: {answers} of {pages}, in {counted(done.archives, 'archive')}")
    if done.folders:
        say(f"imported archives are named by their file names; they lie in {_listed(done.folders)}")
    if done.imported:
        say(f"{counted(done.imported, 'imported answer')} left out: {FORMATS[form].left_out}")


def _listed(folders: Sequence[str]) -> str:
    more = len(folders) - _SHOWN_FOLDERS
    return ", ".join(folders[:_SHOWN_FOLDERS]) + (f" and {counted(more, 'more folder')}" if more > 0 else "")
