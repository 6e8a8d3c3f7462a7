"""The group of all commands, and its global options.

A command is a file of the folder above. It is imported only when it is used, and it imports heavy modules
inside its function: the help of a tool that is used many times per day must not wait for boto3.
"""

from __future__ import annotations

from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, cast

import click

from crawlctl.pipeline.commands.shared.common import Session
from crawlctl.pipeline.commands.shared.output import say
from crawlctl.pipeline.errors import CrawlctlError, JobFailed


class LazyGroup(click.Group):
    """A group whose commands are modules; each is imported when it is named."""

    names: tuple[str, ...] = ()

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, if there is one."""
        if cmd_name not in self.names:
            return None
        module = import_module(f"crawlctl.pipeline.commands.{cmd_name.replace('-', '_')}")
        return cast("click.Command", module.command)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; with --verbose the traceback of a failed task precedes the error."""
        try:
            return super().invoke(ctx)
        except CrawlctlError as err:
            failure = err if isinstance(err, JobFailed) else err.__cause__
            if ctx.params["verbose"] and isinstance(failure, JobFailed):
                say(failure.task_traceback, err=True)
            raise


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config",
    "path",
    type=click.Path(path_type=Path),
    help="The settings file (default: crawl.yaml, else conf/crawl.yaml).",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change one setting for this command; can be repeated.",
)
@click.option(
    "-v", "--verbose", is_flag=True, help="Show log messages of libraries and tracebacks of failed tasks."
)
@click.pass_context
def crawlctl(ctx: click.Context, path: Path | None, settings: tuple[str, ...], verbose: bool) -> None:
    """Crawl, index, rank and search a set of sites.

    Exit codes: 0 success, 1 error, 2 wrong usage or settings, 75 the store is in use, 130 stopped by Ctrl-C.

    \b
    Example:
      crawlctl init && crawlctl inject seed.txt && crawlctl status
    """
    if verbose:
        import logging

        logging.basicConfig(level=logging.DEBUG)
    ctx.obj = Session(path, settings)


def group_of(names: tuple[str, ...]) -> LazyGroup:
    """Return the group with the commands of these names."""
    crawlctl.names = names
    return crawlctl


def run_group(group: LazyGroup, arguments: list[str]) -> int:
    """Run a command line and return its exit code; click explains errors of the command line itself."""
    try:
        result: Any = group.main(arguments, prog_name="crawlctl", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as err:
        said = StringIO()
        err.show(said)
        say(said.getvalue().removesuffix("\n"), err=True)
        return err.exit_code
    except click.Abort as err:
        raise KeyboardInterrupt from err
