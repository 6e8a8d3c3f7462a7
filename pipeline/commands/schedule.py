"""`crawlctl schedule`: let cron run the crawl."""

from __future__ import annotations

import os
import shlex
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
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.config.load import Origin
    from crawlctl.pipeline.errors import ConfigError

DEFAULT_LOG = "crawl.log"
# Not the keys of AWS: a crontab is no place for secrets, ~/.aws/credentials is.
CARRIED = (
    *("HADOOP_CONF_DIR", "HADOOP_HOME", "HADOOP_USER_NAME", "JAVA_HOME", "CRAWLCTL_WEBHDFS"),
    *("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"),
)
DEFAULT_SOURCE = "default"  # of a setting that nobody has set


@click.group("schedule")
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
@click.option("--seed", metavar="FILE", help="Add these seeds at the beginning of each run.")
@click.option(
    "--log", default=DEFAULT_LOG, show_default=True, help="Append the output of the runs to this file."
)
@store_option
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

    The flags and CRAWLCTL_ variables that you use now are written into the line. The settings file is read at
    each run. Passwords are never written into the line; put them into the settings file.

    \b
    Example:
      crawlctl schedule add --every "30 4 * * *" --until-empty
    """
    from crawlctl.pipeline.commands.shared.crontab import cron_line, expression, put_line, tag_of

    uri = session.store().uri
    options = [*_options(iterations, until_empty, seed), "--store", uri]
    tag = tag_of(uri)
    line = cron_line(expression(every, uri), _command(session, options, Path(log).absolute()), tag)
    changed = put_line(tag, line)
    if as_json:
        print_json({"store": uri, "line": line, "changed": changed})
        return
    say(line)


@command.command("show")
@store_option
@json_option
@pass_session
def show(session: Session, as_json: bool) -> None:
    """Print the crontab line of this store.

    \b
    Example:
      crawlctl schedule show --store crawl
    """
    from crawlctl.pipeline.commands.shared.crontab import shown_line, tag_of
    from crawlctl.pipeline.config.secrets import masked

    uri = session.store().uri
    found = shown_line(tag_of(uri))
    line = found and masked(found)  # it may have been written by hand
    if as_json:
        print_json({"store": uri, "line": line})
        return
    say(line or f"cron does not run {uri}; add it with `crawlctl schedule add`")


@command.command("remove")
@store_option
@json_option
@pass_session
def remove(session: Session, as_json: bool) -> None:
    """Remove the crontab line of this store.

    \b
    Example:
      crawlctl schedule remove --store crawl
    """
    from crawlctl.pipeline.commands.shared.crontab import put_line, tag_of

    uri = session.store().uri
    changed = put_line(tag_of(uri), None)
    if as_json:
        print_json({"store": uri, "changed": changed})
        return
    say(f"cron no longer runs {uri}" if changed else f"cron did not run {uri}")


def _options(iterations: int | None, until_empty: bool, seed: str | None) -> Iterator[str]:
    if iterations is not None:
        yield from ("--iterations", str(iterations))
    if until_empty:
        yield "--until-empty"
    if seed is not None:
        yield from ("--seed", str(Path(seed).absolute()))


def _command(session: Session, options: list[str], log: Path) -> str:
    """Return what cron hands to the shell; that the store is in use is no failure."""
    from crawlctl.pipeline.errors import EXIT_BUSY

    words = [*_environment(), *_program(), *_switches(session.loaded.origins), "run", *options]
    folder, run, target = shlex.quote(str(Path.cwd())), shlex.join(words), shlex.quote(str(log))
    return f"cd {folder} && {run} >> {target} 2>&1; code=$?; [ $code -eq {EXIT_BUSY} ] || exit $code"


def _environment() -> list[str]:
    """Return what sets the variables by which clusters are found: cron has an environment of its own."""
    from crawlctl.pipeline.config.secrets import masked

    found = [f"{name}={os.environ[name]}" for name in CARRIED if os.environ.get(name)]
    for variable in found:
        if masked(variable) != variable:
            raise _has_secret(variable.partition("=")[0], "name the server without it, by HADOOP_CONF_DIR")
    return ["env", *found] if found else []


def _switches(origins: Sequence[Origin]) -> Iterator[str]:
    """Yield the switches that bring about the same settings where cron runs, without our environment."""
    import msgspec

    from crawlctl.pipeline.config.locations import ENVIRONMENT_PREFIX
    from crawlctl.pipeline.config.secrets import shown_value

    given = [one for one in origins if one.source.startswith(("--", ENVIRONMENT_PREFIX))]
    files = {one.source for one in origins if one not in given} - {DEFAULT_SOURCE}
    yield from (f"--config={Path(name).absolute()}" for name in sorted(files))
    for one in given:
        if one.key != "store":
            plain = msgspec.to_builtins(one.value, enc_hook=str)
            if shown_value(one.key, plain) != plain:
                raise _has_secret(one.key, f"move it from {one.source} into crawl.yaml (chmod 600)")
            text = plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()
            yield f"--set={one.key}={text}"


def _has_secret(name: str, remedy: str) -> ConfigError:
    from crawlctl.pipeline.errors import ConfigError

    return ConfigError(
        f"{name} has a password, which the crontab and `ps` would show to others; {remedy}, "
        "then run `crawlctl schedule add` again"
    )


def _program() -> list[str]:
    """Return how to start crawlctl from anywhere: its script, or else the interpreter that runs now."""
    script = Path(sys.executable).with_name("crawlctl")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "crawlctl.cli"]
