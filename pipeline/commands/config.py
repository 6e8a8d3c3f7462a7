"""`crawlctl config`: the effective settings and where each comes from."""

from __future__ import annotations

import click

from crawlctl.pipeline.commands.common import (
    Session,
    json_option,
    pass_session,
    print_json,
    say,
    store_option,
)


@click.command("config")
@store_option
@json_option
@pass_session
def command(session: Session, as_json: bool) -> None:
    """Print every setting and where its value comes from.

    \b
    Example:
      CRAWLCTL_PARTITIONS=16 crawlctl config
    """
    origins = session.loaded.origins
    if as_json:
        print_json({origin.key: {"value": origin.value, "source": origin.source} for origin in origins})
        return
    width = max(len(origin.key) for origin in origins)
    values = [_show(origin.value) for origin in origins]
    value_width = max(map(len, values))
    for origin, value in zip(origins, values, strict=True):
        say(f"{origin.key:<{width}}  {value:<{value_width}}  {origin.source}")


def _show(value: object) -> str:
    """Return a value as it would be written in crawl.yaml."""
    import msgspec

    plain = msgspec.to_builtins(value, enc_hook=str)
    return plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()
