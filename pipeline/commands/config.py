"""`crawlctl config`: the effective settings and where each comes from."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from crawlctl.pipeline.config.load import Origin


@click.command("config")
@store_option
@json_option
@pass_session
def command(session: Session, as_json: bool) -> None:
    """Print every setting and where its value comes from.

    Passwords and keys are shown as ***.

    \b
    Example:
      CRAWLCTL_PARTITIONS=16 crawlctl config
    """
    origins = session.loaded.origins
    values = [_shown(origin) for origin in origins]
    if as_json:
        shown = zip(origins, values, strict=True)
        print_json({origin.key: {"value": value, "source": origin.source} for origin, value in shown})
        return
    width = max(len(origin.key) for origin in origins)
    values = [_as_text(value) for value in values]
    value_width = max(map(len, values))
    for origin, value in zip(origins, values, strict=True):
        say(f"{origin.key:<{width}}  {value:<{value_width}}  {origin.source}")


def _shown(origin: Origin) -> Any:
    """Return the value of a setting as a plain object, without its secrets."""
    import msgspec

    from crawlctl.pipeline.config.secrets import shown_value

    return shown_value(origin.key, msgspec.to_builtins(origin.value, enc_hook=str))


def _as_text(plain: Any) -> str:
    """Return a value as it would be written in crawl.yaml."""
    return plain if isinstance(plain, str) else json_of(plain)
