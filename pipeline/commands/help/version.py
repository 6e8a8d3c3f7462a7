"""`crawlctl version`: print the installed versions, for bug reports."""

from __future__ import annotations

import click

from crawlctl.pipeline.commands.shared.common import CrawlctlCommand, json_option, print_fields, print_json


@click.command("version", cls=CrawlctlCommand)
@json_option
def command(as_json: bool) -> None:
    """Print the versions of crawlctl and its main dependencies.

    \b
    Example:
      crawlctl version --json
    """
    import platform
    from importlib.metadata import version

    from crawlctl import __version__

    versions = {
        "crawlctl": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: version(name) for name in ("mrjob", "boto3", "click", "msgspec", "ada-url")},
    }
    print_json(versions) if as_json else print_fields(dict(versions))
