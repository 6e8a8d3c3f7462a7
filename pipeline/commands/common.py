"""What the commands share: the session of one invocation, options, and the two ways to print a result."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawlctl.pipeline.config.load import Loaded
    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.store.base import Store

Function = TypeVar("Function", bound="Callable[..., Any]")


class Session:
    """One invocation of crawlctl: its flags, and the configuration they lead to."""

    def __init__(self, path: Path | None, settings: tuple[str, ...]) -> None:
        self._path = path
        self._flags = dict(_split_setting(setting) for setting in settings)
        self._loaded: Loaded | None = None

    def flag(self, key: str, value: object, name: str) -> None:
        """Let the flag `name` set a key, unless it was not given."""
        if value is not None:
            self._flags[key] = (str(value), name)
            self._loaded = None

    @property
    def loaded(self) -> Loaded:
        """The configuration with the origin of each value, read once."""
        if self._loaded is None:
            from crawlctl.pipeline.config.load import load_config

            self._loaded = load_config(os.environ, self._flags, self._path)
        return self._loaded

    @property
    def config(self) -> Config:
        """The effective settings."""
        return self.loaded.config

    def store(self) -> Store:
        """Open the store the settings name."""
        from crawlctl.pipeline.store.open import open_store

        return open_store(self._store_uri())

    def _store_uri(self) -> str:
        if self._loaded is None and self._flags.keys() <= {"store"}:
            from crawlctl.pipeline.config.places import only_store

            given = self._flags.get("store")
            named = given[0] if given else only_store(os.environ, self._path)
            if named is not None:
                return named
        return self.config.store


def _split_setting(setting: str) -> tuple[str, tuple[str, str]]:
    """Return (key, (text, flag)) of a --set KEY=VALUE."""
    key, separator, text = setting.partition("=")
    if not separator:
        raise click.BadParameter(f"{setting!r} has no '='; write --set KEY=VALUE", param_hint="--set")
    return key.strip(), (text, "--set")


pass_session = click.make_pass_decorator(Session)


def takes_setting(*names: str, key: str, **attributes: Any) -> Callable[[Function], Function]:
    """Return an option that overrides one setting and is not passed on to the command."""
    return click.option(*names, expose_value=False, callback=_set_flag(key, names[0]), **attributes)


def _set_flag(key: str, name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Return the callback that hands a flag's value to the session."""

    def callback(ctx: click.Context, _parameter: click.Parameter, value: Any) -> None:
        if isinstance(ctx.obj, Session):  # absent while the shell completes a word
            ctx.obj.flag(key, value, name)

    return callback


store_option = takes_setting(
    "--store", key="store", metavar="URI", help="Folder or s3://bucket/prefix of the crawl."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def print_json(value: Any) -> None:
    """Print a record or a plain value as one JSON document."""
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(value, enc_hook=str)))


def print_fields(fields: dict[str, object]) -> None:
    """Print names and values in two columns; the further lines of a value stand below its first."""
    width = max(map(len, fields)) + 2
    for name, value in fields.items():
        below = "\n" + " " * width
        click.echo(f"{name:<{width}}{below.join(map(_harmless, str(value).split(chr(10))))}")


def _harmless(line: str) -> str:
    # Titles and anchors are what strangers wrote, and a terminal obeys some characters.
    return line if line.isprintable() else "".join(one if one.isprintable() else " " for one in line)
