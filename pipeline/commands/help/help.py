"""`crawlctl help`: print the help of crawlctl or of a command."""

from __future__ import annotations

from typing import cast

import click

from crawlctl.pipeline.commands.shared.common import CrawlctlCommand, say
from crawlctl.pipeline.commands.shared.completing import complete_command


@click.command("help", cls=CrawlctlCommand)
@click.argument("names", nargs=-1, metavar="[COMMAND]...", shell_complete=complete_command)
@click.pass_context
def command(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Print the help of crawlctl or of a command.

    \b
    Example:
      crawlctl help
      crawlctl help run
      crawlctl help schedule add
    """
    context = ctx.find_root()
    for name in names:
        context = _context_of(context, name)
    say(context.get_help())


def _context_of(parent: click.Context, name: str) -> click.Context:
    """Return the click context of a subcommand, as if the user had typed it."""
    if not isinstance(parent.command, click.Group):
        raise click.UsageError(f"`{parent.command_path}` has no commands; type `crawlctl help`")
    found = cast("click.Command", parent.command.resolve_command(parent, [name])[1])
    return click.Context(found, info_name=name, parent=parent, **found.context_settings)
