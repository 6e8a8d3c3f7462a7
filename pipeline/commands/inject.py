"""`crawlctl inject`: add the URLs of a seed file to the WebDB."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crawlctl.pipeline.commands.shared.common import (
    Session,
    json_option,
    pass_session,
    print_json,
    say,
    store_option,
)

if TYPE_CHECKING:
    from crawlctl.pipeline.urls.seeds import Seeds

STDIN = "-"


@click.command("inject")
@click.argument("seed_file", default="seed.txt")
@click.option("--skip-bad", is_flag=True, help="Ignore wrong lines and add the others.")
@store_option
@json_option
@pass_session
def command(session: Session, seed_file: str, skip_bad: bool, as_json: bool) -> None:
    """Add the URLs of a seed file to the crawl.

    The file is seed.txt if you name none; - means standard input. Each line is a URL, or a host followed by
    URLs, with a TAB before each URL. If a line is wrong, nothing is added, unless you give --skip-bad.

    \b
    Example:
      crawlctl inject seed.txt
      echo https://docs.python.org/3/ | crawlctl inject -
    """
    from crawlctl.pipeline.crawl.seeding import seed_crawl

    seeds = _read(seed_file, session.config.urls.strip_parameters)
    for problem in seeds.problems if skip_bad else ():
        say(f"crawlctl: {seeds.source}: line {problem.line} skipped: {problem.reason}", err=True)
    injected = seed_crawl(session.work(), (seeds if skip_bad else seeds.require_all_good()).urls)
    if as_json:
        print_json({"new": injected.new, "known": injected.known, "skipped": len(seeds.problems)})
        return
    say(f"injected {injected.new} new URLs, due now; {injected.known} were known")


def _read(seed_file: str, strip: tuple[str, ...]) -> Seeds:
    from crawlctl.pipeline.urls.seeds import parse_seeds, read_seeds

    if seed_file == STDIN:
        return parse_seeds(sys.stdin.buffer.read(), "standard input", strip)
    return read_seeds(Path(seed_file), strip)
