"""`crawlctl config`: every setting, its value, and where the value comes from."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from crawlctl.pipeline.commands.shared.common import (
    Session,
    json_option,
    pass_session,
    print_json,
    say,
    store_option,
)
from crawlctl.pipeline.commands.shared.output import json_of
from crawlctl.pipeline.terminal.width import columns, fitting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.config.load import Origin

_NARROWEST = 20  # columns for values, even in a terminal that is too narrow for the other columns


@click.command("config")
@store_option
@json_option
@pass_session
def command(session: Session, as_json: bool) -> None:
    """Print every setting and where its value comes from.

    In a terminal, long values are cut off; --json shows them whole. Passwords and keys are shown as ***.

    \b
    Example:
      CRAWLCTL_PARTITIONS=16 crawlctl config
    """
    from crawlctl.pipeline.config.units import encode_unit

    origins = session.loaded.origins
    if as_json:
        print_json({one.key: {"value": _shown(one, str), "source": one.source} for one in origins})
        return
    rows = [(one.key, _as_text(_shown(one, encode_unit)), one.source) for one in origins]
    for line in table_lines(rows, terminal_width(), cut=sys.stdout.isatty()):
        say(line)


def terminal_width() -> int:
    """Return the columns of the terminal, or of $COLUMNS; 80 without a terminal."""
    from shutil import get_terminal_size

    return get_terminal_size().columns


def table_lines(rows: list[tuple[str, str, str]], width: int, *, cut: bool) -> Iterator[str]:
    """Yield the lines of a table of (key, value, source) for a terminal of `width` columns.

    Values that do not fit are cut off, or, without `cut`, move the source of their own line to the right.
    """
    key_width = max(len(key) for key, _, _ in rows)
    source_width = max(columns(source) for _, _, source in rows)
    room = max(_NARROWEST, width - key_width - source_width - len("  " * 2))
    value_width = min(room, max(columns(value) for _, value, _ in rows))
    for key, value, source in rows:
        shown = _cut_to(value, room) if cut else value
        padding = " " * (value_width - columns(shown))
        yield f"{key:<{key_width}}  {shown}{padding}  {source}"


def _cut_to(text: str, room: int) -> str:
    """Return a text, or its beginning and an ellipsis if it takes more than `room` columns."""
    return text if columns(text) <= room else text[: fitting(text, 0, room - 1)] + "…"


def _shown(origin: Origin, encode: Callable[[Any], str | int]) -> Any:
    """Return the value of a setting as a plain object, without its secrets."""
    import msgspec

    from crawlctl.pipeline.config.secrets import shown_value

    return shown_value(origin.key, msgspec.to_builtins(origin.value, enc_hook=encode))


def _as_text(plain: Any) -> str:
    """Return a value as it would be written in crawl.yaml."""
    return plain if isinstance(plain, str) else json_of(plain)
