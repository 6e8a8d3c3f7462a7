"""Options that several commands have, and the two ways to print a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from crawlctl.pipeline.commands.shared.output import print_json, say
from crawlctl.pipeline.commands.shared.session import STORE_FLAG, Session
from crawlctl.pipeline.terminal.printable import blanked

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Session",
    "json_option",
    "pass_session",
    "print_fields",
    "print_json",
    "say",
    "store_option",
    "takes_setting",
]

Function = TypeVar("Function", bound="Callable[..., Any]")


pass_session = click.make_pass_decorator(Session)


def takes_setting(*names: str, key: str, **attributes: Any) -> Callable[[Function], Function]:
    """Return an option that overrides one setting and is not passed on to the command."""
    return click.option(*names, expose_value=False, callback=_set_flag(key, names[0]), **attributes)


def _set_flag(key: str, name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Return the callback that stores the value of a flag in the session."""

    def callback(ctx: click.Context, _parameter: click.Parameter, value: Any) -> None:
        if isinstance(ctx.obj, Session):  # there is none while the shell completes a word
            ctx.obj.flag(key, value, name)

    return callback


store_option = takes_setting(
    STORE_FLAG,
    key="store",
    metavar="URI",
    help="Where the crawl is: a folder, hdfs:///folder or s3://bucket/prefix.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def print_fields(fields: dict[str, object]) -> None:
    """Print names and values in two columns; a value with several lines stays in its column."""
    width = max(map(len, fields)) + 2
    for name, value in fields.items():
        below = "\n" + " " * width
        say(f"{name:<{width}}{below.join(map(blanked, str(value).split(chr(10))))}")
