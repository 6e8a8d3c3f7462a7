"""`crawlctl completion`: the script that makes a shell complete our commands."""

from __future__ import annotations

import click

from crawlctl.pipeline.commands.shared.session import COMPLETION_VARIABLE


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    Example:
      crawlctl completion bash > ~/.local/share/bash-completion/completions/crawlctl
    """
    from click.shell_completion import get_completion_class

    completion_class = get_completion_class(shell)
    if completion_class is None:
        raise click.UsageError(f"this version of click cannot complete for {shell}; update click")
    completion = completion_class(ctx.find_root().command, {}, "crawlctl", COMPLETION_VARIABLE)
    click.echo(completion.source())
