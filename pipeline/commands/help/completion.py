"""`crawlctl completion`: the script that makes a shell complete our commands."""

from __future__ import annotations

import click

from crawlctl.pipeline.commands.shared.common import CrawlctlCommand, say
from crawlctl.pipeline.commands.shared.session import COMPLETION_VARIABLE

INSTALL = {
    "bash": "crawlctl completion bash > ~/.local/share/bash-completion/completions/crawlctl",
    "zsh": "crawlctl completion zsh > ~/.zfunc/_crawlctl, with fpath+=~/.zfunc before compinit in ~/.zshrc",
    "fish": "crawlctl completion fish > ~/.config/fish/completions/crawlctl.fish",
}


@click.command("completion", cls=CrawlctlCommand)
@click.argument("shell", type=click.Choice(list(INSTALL)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that lets a shell complete our commands.

    It completes commands, options, files, settings and their values. The first line of the script says where
    to put it. To try it only in the bash or zsh that is open, use eval.

    \b
    Example:
      eval "$(crawlctl completion bash)"
      crawlctl completion bash > ~/.local/share/bash-completion/completions/crawlctl
      crawlctl completion fish > ~/.config/fish/completions/crawlctl.fish
    """
    from crawlctl.pipeline.commands.shared.shells import SHELLS

    script = SHELLS[shell](ctx.find_root().command, {}, "crawlctl", COMPLETION_VARIABLE).source()
    # zsh wants #compdef in the first line.
    first, _, rest = script.partition("\n")
    how = f"# To install: {INSTALL[shell]}"
    say(f"{first}\n{how}\n{rest}" if first.startswith("#") else f"{how}\n{script}")
