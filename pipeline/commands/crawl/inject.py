"""`crawlctl inject`: add URLs, or the URLs of seed files, to the WebDB."""

from __future__ import annotations

import sys
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
from crawlctl.pipeline.commands.shared.completing import complete_file
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.urls.seeds import Seeds

DEFAULT_FILE = "seed.txt"


@click.command("inject", cls=CrawlctlCommand)
@click.argument("words", nargs=-1, metavar="[URL|FILE]...", shell_complete=complete_file)
@click.option("--skip-bad", is_flag=True, help="Ignore wrong lines and URLs, and add the others.")
@json_option
@pass_session
def command(session: Session, words: tuple[str, ...], skip_bad: bool, as_json: bool) -> None:
    """Add URLs, or the URLs of seed files, to the crawl.

    Without arguments the file is seed.txt; - means standard input. Each line of a file is a URL, or a host
    followed by URLs, with a TAB before each URL. If a line is wrong or outside the scope, nothing is added,
    unless you give --skip-bad.

    \b
    Example:
      crawlctl inject https://docs.python.org/3/
      crawlctl inject seed.txt
      echo https://docs.python.org/3/ | crawlctl inject -
    """
    from crawlctl.pipeline.crawl.seeding import seed_crawl, within_scope

    config = session.config
    groups = [within_scope(seeds, config.scope) for seeds in _read(words, config.urls.strip_parameters)]
    if not skip_bad:
        groups = [seeds.require_all_good() for seeds in groups]
    problems = [(seeds, problem) for seeds in groups for problem in seeds.problems]
    for seeds, problem in problems:
        say(f"crawlctl: {seeds.source}: {seeds.unit} {problem.line} skipped: {problem.reason}", err=True)
    injected = seed_crawl(session.work(), [url for seeds in groups for url in seeds.urls])
    if as_json:
        print_json(
            {
                "new": injected.new,
                "known": injected.known,
                "let_in": injected.let_in,
                "skipped": len(problems),
            }
        )
        return
    known = counted(injected.known, "was", "were")
    say(f"injected {counted(injected.new, 'new URL')}, due now; {known} known")
    for line in injected.let_in_lines():
        say(line)


def _read(words: tuple[str, ...], strip: tuple[str, ...]) -> Iterator[Seeds]:
    from crawlctl.pipeline.urls.seeds import parse_seeds, read_seeds
    from crawlctl.pipeline.urls.typed_seeds import STDIN, read_words

    typed = read_words(words or (DEFAULT_FILE,), strip)
    for notice in typed.notices:
        say(notice, err=True)
    if typed.seeds.seeds or typed.seeds.problems:
        yield typed.seeds
    for name in typed.files:
        if name == STDIN:
            yield parse_seeds(sys.stdin.buffer.read(), "standard input", strip)
        else:
            yield read_seeds(Path(name), strip)
