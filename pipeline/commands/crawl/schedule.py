"""`crawlctl schedule`: let cron run the crawl."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlGroup,
    Session,
    json_option,
    pass_session,
    print_json,
    say,
)
from crawlctl.pipeline.commands.shared.completing import complete_file

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_LOG = "crawl.log"


@click.group("schedule", cls=CrawlctlGroup)
def command() -> None:
    """Let cron run the crawl.

    Each store has one line in your crontab; other lines stay as they are. If the previous run still uses the
    store, the next run ends without an error.

    \b
    Example:
      crawlctl schedule add --every 1d --iterations 3
      crawlctl schedule show
      crawlctl schedule remove
    """


@command.command("add")
@click.option(
    "--every", default="1d", show_default=True, help="How often: 15min, 6h, 1d, 1w or a cron expression."
)
@click.option("--iterations", type=click.IntRange(min=1), help="Rounds per run (default 1).")
@click.option("--until-empty", is_flag=True, help="Run until no page is due.")
@click.option(
    "--seed",
    metavar="FILE",
    shell_complete=complete_file,
    help="Add these seeds at the beginning of each run.",
)
@click.option(
    "--log",
    default=DEFAULT_LOG,
    show_default=True,
    help="Append the output of the runs to this file, with dates; old logs are FILE.1 to FILE.4.",
)
@json_option
@pass_session
def add(
    session: Session,
    *,
    every: str,
    iterations: int | None,
    until_empty: bool,
    seed: str | None,
    log: str,
    as_json: bool,
) -> None:
    """Add or replace the crontab line of this store.

    It is added only if a run would start: the contact, the crawl, the seed file and the log are checked. The
    flags and CRAWLCTL_ variables that you use now are written into the line. The settings file is read at
    each run. Passwords are never written into the line; put them into the settings file.

    \b
    Example:
      crawlctl schedule add --every "30 4 * * *" --until-empty
    """
    from crawlctl.pipeline.crawl.cron.cron_command import cron_command
    from crawlctl.pipeline.crawl.cron.crontab import cron_line, expression, put_line, tags_of
    from crawlctl.pipeline.crawl.cron.run_checks import require_ready

    _require_no_changes(session)
    store, log_file = session.store(), Path(log).absolute()
    uri = store.uri
    when = expression(every, uri)
    require_ready(session.config, store, Path(seed).absolute() if seed else None, log_file)
    options = [*_options(iterations, until_empty, seed), "--store", uri]
    tags = tags_of(uri)
    run = cron_command(session.loaded.origins, options, log_file)
    line = cron_line(when, run, tags[0])
    changed = put_line(tags, line)
    if as_json:
        print_json({"store": uri, "line": line, "changed": changed})
        return
    say(line)


@command.command("show")
@json_option
@pass_session
def show(session: Session, as_json: bool) -> None:
    """Print the crontab line of this store.

    \b
    Example:
      crawlctl schedule show --store crawl
    """
    from crawlctl.pipeline.config.secrets import masked
    from crawlctl.pipeline.crawl.cron.crontab import shown_line, tags_of

    uri = session.store().uri
    found = shown_line(tags_of(uri))
    line = found and masked(found)  # it may have been written by hand
    if as_json:
        print_json({"store": uri, "line": line})
        return
    say(line or f"cron does not run {uri}; add it with `crawlctl schedule add`")


@command.command("remove")
@json_option
@pass_session
def remove(session: Session, as_json: bool) -> None:
    """Remove the crontab line of this store.

    \b
    Example:
      crawlctl schedule remove --store crawl
    """
    from crawlctl.pipeline.crawl.cron.crontab import put_line, tags_of

    uri = session.store().uri
    changed = put_line(tags_of(uri), None)
    if as_json:
        print_json({"store": uri, "changed": changed})
        return
    say(f"cron no longer runs {uri}" if changed else f"cron did not run {uri}")


def _require_no_changes(session: Session) -> None:
    """Refuse flags that change the crawl: each run would change it again."""
    if session.changes:
        from crawlctl.pipeline.config.own_layer import set_command
        from crawlctl.pipeline.errors import ConfigError

        raise ConfigError(
            f"{', '.join(session.changes)}: a setting of the crawl is not set at each run, but once: "
            f"{set_command(session.changes, session.store_words)}"
        )


def _options(iterations: int | None, until_empty: bool, seed: str | None) -> Iterator[str]:
    if iterations is not None:
        yield from ("--iterations", str(iterations))
    if until_empty:
        yield "--until-empty"
    if seed is not None:
        yield from ("--seed", str(Path(seed).absolute()))
