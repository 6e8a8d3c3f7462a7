"""The layer of the crawl's own settings, for the sections that a crawl owns (OWN_SECTIONS).

For these sections, a settings file and variables count only when a crawl is created. After that the layers
are defaults < the crawl's own settings < flags. Otherwise a run from another folder would judge the pages of
the crawl by the rules of another crawl. A value in a file or variable that differs from the crawl's own value
is a Difference; commands name all Differences in one line.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.config.load import (
    Loaded,
    Origin,
    all_types,
    build_config,
    default_of,
    typed_value,
    value_of,
)
from crawlctl.pipeline.config.plain_values import plain_value, yaml_value
from crawlctl.pipeline.config.secrets import shown_value
from crawlctl.pipeline.config.settings import is_own
from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from crawlctl.pipeline.config.settings import Config

OWN_SOURCE = "the crawl"  # the origin of a value from the crawl's own settings
DEFAULT_SOURCE = "default"  # the origin of a value that nobody has set
_LONGEST_VALUE = 60  # the most characters of a value in a line for the user
_LONGEST_COMMAND = 300


@dataclass(frozen=True)
class Difference:
    """A value in a settings file or variable that does not count, because the crawl has its own."""

    key: str
    given: Any
    source: str
    own: Any


def own_keys() -> list[str]:
    """Return all settings that belong to the crawl, in the order of settings.py."""
    return [key for key in all_types() if is_own(key)]


def require_own(key: str) -> None:
    """Raise unless a setting belongs to the crawl; the message says where else to set it."""
    if not is_own(key):
        raise ConfigError(
            f"{key} is no setting of the crawl but of the person and machine that work on it; put it into "
            f"crawl.yaml, or give it to a command: crawlctl --set {key}=…"
        )


def own_values(config: Config) -> dict[str, Any]:
    """Return the settings that belong to the crawl and differ from the defaults, as plain values by key."""
    values = {key: value_of(config, key) for key in own_keys()}
    return {key: plain_value(value) for key, value in values.items() if value != default_of(key)}


def with_own(config: Config, own: Mapping[str, Any]) -> Config:
    """Return the settings with those of the crawl replaced: by its own values, or else by the defaults."""
    typed = typed_own(own)
    values = {
        key: typed.get(key, default_of(key)) if is_own(key) else value_of(config, key) for key in all_types()
    }
    return build_config(values)


def typed_own(own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the crawl's own values as the types of their settings."""
    for key in own:
        if key not in all_types():
            raise ConfigError(
                f"this crawl has a setting {key}, which this crawlctl does not know; upgrade it with "
                f"pip install --upgrade crawlctl, or remove the setting with crawlctl config unset {key}"
            )
    return {key: typed_value(key, value, OWN_SOURCE) for key, value in own.items()}


def layered(
    given: Loaded, own: Mapping[str, Any], flags: Collection[str]
) -> tuple[Loaded, tuple[Difference, ...]]:
    """Return all settings with the crawl's own between the defaults and the flags, and the differences.

    `given` are the settings by the person's layers; `flags` are the keys that flags set.
    """
    typed = typed_own(own)
    origins, differences = [], []
    for one in given.origins:
        if not is_own(one.key) or one.key in flags:
            origins.append(one)
            continue
        value = typed.get(one.key, default_of(one.key))
        origins.append(Origin(one.key, value, OWN_SOURCE if one.key in typed else DEFAULT_SOURCE))
        if one.source != DEFAULT_SOURCE and one.value != value:
            differences.append(Difference(one.key, one.value, one.source, value))
    config = build_config({one.key: one.value for one in origins})
    return Loaded(config, tuple(origins)), tuple(differences)


def changed_by_flags(loaded: Loaded, own: Mapping[str, Any], flags: Collection[str]) -> dict[str, Any]:
    """Return the settings of the crawl to which flags give another value, as plain values by key."""
    typed = typed_own(own)
    return {
        one.key: plain_value(one.value)
        for one in loaded.origins
        if one.key in flags and is_own(one.key) and one.value != typed.get(one.key, default_of(one.key))
    }


def difference_line(differences: Sequence[Difference], options: Sequence[str] = ()) -> str:
    """Return the line that names all differences and the command that would make the given values count.

    `options` are further options that the command needs, such as --store.
    """
    if len(differences) == 1:
        (one,) = differences
        found = (
            f"{one.source}: {one.key} is {shown(one.key, one.given)}, but the crawl's own setting is "
            f"{shown(one.key, one.own)}, which counts; to change it"
        )
    else:
        found = f"{'; '.join(_by_source(differences))}; the crawl's own settings count; to change them"
    return f"{found}: {set_command({one.key: one.given for one in differences}, options)}"


def _by_source(differences: Sequence[Difference]) -> Iterator[str]:
    for source in dict.fromkeys(one.source for one in differences):
        values = (
            f"{one.key} is {shown(one.key, one.given)} (the crawl's own: {shown(one.key, one.own)})"
            for one in differences
            if one.source == source
        )
        yield f"{source}: {', '.join(values)}"


def set_command(values: Mapping[str, Any], options: Sequence[str] = ()) -> str:
    """Return the command that gives settings of the crawl these values."""
    assignments = (f"{key}={yaml_value(value)}" for key, value in values.items())
    command = shlex.join(["crawlctl", "config", "set", *options, *assignments])
    if len(command) <= _LONGEST_COMMAND and shown_value("", command) == command:
        return command
    # A command of many lines does not help, and a password must not be shown.
    return shlex.join(["crawlctl", "config", "edit", *options])


def shown(key: str, value: Any) -> str:
    """Return a value for a message: without secrets, and cut off if it is long."""
    text = yaml_value(shown_value(key, plain_value(value)))
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
