"""Options that several commands have, and printing of results as text or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from crawlctl.pipeline.commands.shared.command import CrawlctlCommand, CrawlctlGroup
from crawlctl.pipeline.commands.shared.completing import complete_value_of
from crawlctl.pipeline.commands.shared.output import print_json, say
from crawlctl.pipeline.commands.shared.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "CrawlctlCommand",
    "CrawlctlGroup",
    "Session",
    "json_option",
    "pass_session",
    "print_fields",
    "print_json",
    "runner_options",
    "say",
    "takes_setting",
]

Function = TypeVar("Function", bound="Callable[..., Any]")


pass_session = click.make_pass_decorator(Session)


def takes_setting(*names: str, key: str, **attributes: Any) -> Callable[[Function], Function]:
    """Return an option that overrides one setting and is not passed on to the command."""
    attributes.setdefault("shell_complete", complete_value_of(key))
    return click.option(*names, expose_value=False, callback=_set_flag(key, names[0]), **attributes)


def _set_flag(key: str, name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Return the callback that stores the value of a flag in the session."""

    def callback(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
        ctx.ensure_object(Session).flag(key, value or None if parameter.multiple else value, name)

    return callback


def runner_options(workers: str = "Tasks at the same time.") -> Callable[[Function], Function]:
    """Return a decorator with the two options of all commands that run jobs; `workers` explains --workers."""
    where = takes_setting(
        "--runner",
        key="runner.name",
        metavar="NAME",
        help="Where jobs run: forked, inline, local, hadoop, emr or spark.",
    )
    how_many = takes_setting("--workers", key="runner.workers", type=int, help=workers)
    return lambda function: where(how_many(function))


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def print_fields(fields: dict[str, object]) -> None:
    """Print names and values in two columns that fit the terminal; a value may have several lines."""
    from crawlctl.pipeline.terminal.tables import described
    from crawlctl.pipeline.terminal.width import output_width

    for line in described([(name, str(value)) for name, value in fields.items()], output_width()):
        say(line)
