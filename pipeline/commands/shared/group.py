"""The group of all commands: finds a command by its name, and prints the help.

A command is a file in the folder of its section (`crawl/run.py`). It is imported only when it is used, and it
imports heavy modules inside its function, so that `--help` does not wait for boto3 to load.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import click

from crawlctl.pipeline.commands.shared.command import CrawlctlGroup
from crawlctl.pipeline.commands.shared.output import say
from crawlctl.pipeline.commands.shared.session import COMPLETION_VARIABLE, Session
from crawlctl.pipeline.errors import CrawlctlError, JobFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIRST_STEPS = """\
Crawl a site:   crawlctl run https://docs.python.org/3/ --contact me@example.org
Search it:      crawlctl query event loop
Try it alone:   crawlctl demo
All commands:   crawlctl help
One command:    crawlctl help run"""


def module_of(section: str, name: str) -> str:
    """Return the name of the module of a command: the title of a section names its folder."""
    return f"crawlctl.pipeline.commands.{section.lower()}.{name.replace('-', '_')}"


class LazyGroup(CrawlctlGroup):
    """A group whose commands are modules; a module is imported when its command is used."""

    sections: Mapping[str, tuple[str, ...]] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return [name for names in self.sections.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, if there is one."""
        for title, names in self.sections.items():
            if cmd_name in names:
                return cast("click.Command", import_module(module_of(title, cmd_name)).command)
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section, each with the first sentence of its help."""
        width = max(map(len, self.list_commands(ctx)))
        for title, names in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:{width}}", self._summary(ctx, name)) for name in names])

    def _summary(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        return command.get_short_help_str(limit=100) if command else ""

    def overview(self) -> str:
        """Return the names of all commands and the first things to type, short enough for one screen."""
        width = max(map(len, self.sections))
        lines = [f"  {title:{width}}  {', '.join(names)}" for title, names in self.sections.items()]
        head = "Usage: crawlctl COMMAND [OPTIONS] [ARGUMENTS]"
        return "\n".join([head, "", (self.help or "").partition("\n")[0], "", *lines, "", _FIRST_STEPS])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; with --verbose the traceback of a failed task precedes the error."""
        try:
            return super().invoke(ctx)
        except CrawlctlError as err:
            failure = err if isinstance(err, JobFailed) else err.__cause__
            if ctx.ensure_object(Session).is_verbose and isinstance(failure, JobFailed):
                say(failure.task_traceback, err=True)
            raise


def _print_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from crawlctl import __version__

        say(f"crawlctl {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, invoke_without_command=True)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version of crawlctl.",
)
@click.pass_context
def crawlctl(ctx: click.Context) -> None:
    """Crawl, index, rank and search a set of sites.

    Exit codes: 0 success, 1 error, 2 wrong usage or settings, 3 pages were due but nothing was fetched, 75
    the store is in use, 130 stopped by Ctrl-C.

    \b
    Example:
      crawlctl run https://docs.python.org/3/library/ --contact mailto:you@example.org
      crawlctl query event loop
    """
    if ctx.invoked_subcommand is None:
        say(cast("LazyGroup", ctx.command).overview())


def group_of(sections: Mapping[str, tuple[str, ...]]) -> LazyGroup:
    """Return the group with the commands of these sections."""
    crawlctl.sections = sections
    return crawlctl


def run_group(group: LazyGroup, arguments: list[str], session: Session) -> int:
    """Run a command line and return its exit code; click explains errors of the command line itself.

    The flags of the command line are in the session afterwards, also if the command fails.
    """
    if COMPLETION_VARIABLE in os.environ:
        from crawlctl.pipeline.commands.shared.shells import use_our_shells

        use_our_shells()
    try:
        result: Any = group.main(arguments, prog_name="crawlctl", standalone_mode=False, obj=session)
        return result if isinstance(result, int) else 0
    except click.ClickException as err:
        say(_explained(err), err=True)
        return err.exit_code
    except click.Abort as err:
        raise KeyboardInterrupt from err


def _explained(err: click.ClickException) -> str:
    """Return one line that says what is wrong; or the whole help, if a subcommand is missing."""
    ctx = err.ctx if isinstance(err, click.UsageError) else None
    message = err.format_message().removesuffix(".")
    if isinstance(err, click.NoSuchOption) and ctx is not None:
        message = _no_option(err.option_name, ctx)
    if "\n" in message or ctx is None or "`" in message:
        return message if "\n" in message else f"crawlctl: {message}"
    return f"crawlctl: {message}; see `{ctx.command_path} --help`"


def _no_option(name: str, ctx: click.Context) -> str:
    import difflib

    known = [option for parameter in ctx.command.get_params(ctx) for option in parameter.opts]
    close = difflib.get_close_matches(name, known, n=1)
    return f"no option `{name}`; " + (
        f"did you mean {close[0]}?" if close else f"`{ctx.command_path} --help` lists all options"
    )
