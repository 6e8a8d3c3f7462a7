"""The classes of all commands: each has the options of all commands, and explains unknown options and names.

These options may stand before or after the name of a command. If an option is given twice, the last one
counts.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import click

from crawlctl.pipeline.commands.shared.completing import complete_folder, complete_setting
from crawlctl.pipeline.commands.shared.session import STORE_FLAG, Session

HELP_NAMES = ["-h", "--help"]


class CommonOption(click.Option):
    """One of the options of all commands; the help lists them in a section of their own."""


def _to_session(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Pass the value of an option to the session; the first context of a command line creates the session."""
    session = ctx.ensure_object(Session)
    if parameter.name == "store":
        session.flag("store", value, STORE_FLAG)
    elif parameter.name == "settings":
        session.set_all(value)
    elif parameter.name == "path" and value is not None:
        session.read_from(value)
    elif parameter.name == "verbose" and value:
        session.be_verbose()


@cache
def common_options(*, short: bool = True) -> list[click.Parameter]:
    """Return the options of all commands, the same objects for each; without `short`, only long names."""
    shared: dict[str, Any] = {"expose_value": False, "callback": _to_session}
    return [
        CommonOption(
            [STORE_FLAG],
            metavar="URI",
            shell_complete=complete_folder,
            help="Where the crawl is: a folder, hdfs:///folder or s3://bucket/prefix.",
            **shared,
        ),
        CommonOption(
            ["--set", "settings"],
            multiple=True,
            metavar="KEY=VALUE",
            shell_complete=complete_setting,
            help="Change one setting for this command; can be repeated.",
            **shared,
        ),
        CommonOption(
            ["--config", "path"],
            type=click.Path(),
            metavar="FILE",
            help="The settings file (default: crawl.yaml, else conf/crawl.yaml).",
            **shared,
        ),
        CommonOption(
            [*(["-v"] if short else []), "--verbose"],
            is_flag=True,
            help="Show log messages of libraries and tracebacks of failed tasks.",
            **shared,
        ),
    ]


class CrawlctlCommand(click.Command):
    """A command that takes the options of all commands."""

    has_short_options = True

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        own = {name for parameter in self.params for name in parameter.opts}
        common = common_options(short=self.has_short_options)
        self.params += [option for option in common if own.isdisjoint(option.opts)]
        self.context_settings.setdefault("help_option_names", HELP_NAMES)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options of the command first, and below them the options of all commands."""
        own: list[tuple[str, str]] = []
        common: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                (common if _is_common(ctx, parameter) else own).append(record)
        for title, records in (("Options", own), ("Options of all commands", common)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def _is_common(ctx: click.Context, parameter: click.Parameter) -> bool:
    return isinstance(parameter, CommonOption) or not set(ctx.help_option_names).isdisjoint(parameter.opts)


class CrawlctlGroup(CrawlctlCommand, click.Group):
    """A command with subcommands; a name that it does not have gets a suggestion."""

    command_class = CrawlctlCommand

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options, then the subcommands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the subcommand that the first argument names; suggest one if there is none."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing and not name.startswith("-"):
            raise click.UsageError(self.unknown(ctx, name), ctx)
        return super().resolve_command(ctx, args)

    def unknown(self, ctx: click.Context, name: str) -> str:
        """Return what is wrong with a name that is no command, and what may have been meant."""
        import difflib

        if name.startswith(("http://", "https://")):
            return f"`{name}` is a URL; to crawl it type `crawlctl run {name}`"
        close = difflib.get_close_matches(name.lower(), self.list_commands(ctx), n=1)
        help_line = f"crawlctl help {' '.join(ctx.command_path.split()[1:])}".strip()
        return f"no command `{name}`; " + (
            f"did you mean {close[0]}?" if close else f"`{help_line}` lists all commands"
        )
