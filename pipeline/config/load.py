"""Loads the settings that a person gives, from four layers: defaults < settings file < variables < flags.

A later layer overrides an earlier one. Each value keeps its origin, so that `crawlctl config` can show where
it comes from. Unknown names and wrong types are errors in every layer: a misspelt setting that is silently
ignored can cost its owner a day. own_layer.py adds the settings that the crawl itself has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, get_type_hints

import msgspec

from crawlctl.pipeline.config.locations import (
    CONFIG_VARIABLE,
    ENVIRONMENT_PREFIX,
    WEBHDFS_VARIABLE,
    parse_yaml,
    read_yaml,
    settings_file,
)
from crawlctl.pipeline.config.settings import Config, is_own
from crawlctl.pipeline.config.units import decode_unit
from crawlctl.pipeline.config.wanted import given, unknown_name, wanted_form
from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_RULE = re.compile(r"(?P<name>[\w.*-]+) must (?P<rule>.+?) - at `(?P<place>[^`]*)`")


@dataclass(frozen=True)
class Origin:
    """The value of one setting that is in use, and the file, variable or flag it comes from."""

    key: str
    value: Any
    source: str


@dataclass(frozen=True)
class Loaded:
    """All settings of one invocation, and the origin of each value."""

    config: Config
    origins: tuple[Origin, ...]


def load_config(
    environment: Mapping[str, str], flags: Mapping[str, tuple[str, str]], path: Path | None = None
) -> Loaded:
    """Return the settings made of all layers; `flags` maps a key to (text, name of the flag)."""
    types = all_types()
    values = {key: (default_of(key), "default") for key in types}
    for key, value, source in (
        *_file_layer(path or settings_file(environment), types),
        *_environment_layer(environment, types),
        *_flag_layer(flags, types),
    ):
        values[key] = (_carried(key, _convert(key, value, types[key], source), types[key], source), source)
    origins = tuple(Origin(key, value, source) for key, (value, source) in values.items())
    return Loaded(_build({key: value for key, (value, _) in values.items()}), origins)


def typed_flags(flags: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """Return the values of flags by key, as the types of their settings."""
    types = all_types()
    return {
        key: _carried(key, _convert(key, value, types[key], source), types[key], source)
        for key, value, source in _flag_layer(flags, types)
    }


def typed_value(key: str, value: Any, source: str) -> Any:
    """Return a plain value as the type of its setting; errors name its `source`."""
    kind = require_known(key, source)
    return _carried(key, _convert(key, value, kind, source), kind, source)


def require_known(key: str, source: str) -> Any:
    """Return the type of a setting; raise if there is no such setting."""
    types = all_types()
    if key not in types:
        raise _unknown(key, types, source)
    return types[key]


@cache
def all_types() -> Mapping[str, Any]:
    """Return the type of every setting by its dotted key."""
    return dict(setting_types(Config))


def build_config(values: Mapping[str, Any]) -> Config:
    """Return the settings of these values by key; rules about several settings are checked."""
    return _build(values)


def _carried(key: str, value: Any, kind: Any, source: str) -> Any:
    """Return a value; raise if the crawl keeps it and JSON cannot store it: infinity, half a character."""
    if not is_own(key) or _is_kept_by_json(value, kind):
        return value
    raise ConfigError(
        f"{source}: {key} must be {wanted_form(kind)}; {given(key, value)} does not fit, because the crawl "
        "cannot store it"
    )


def _is_kept_by_json(value: Any, kind: Any) -> bool:
    try:
        plain = msgspec.json.decode(msgspec.json.encode(value, enc_hook=str))
        return bool(msgspec.convert(plain, kind, dec_hook=decode_unit) == value)
    except (msgspec.MsgspecError, OverflowError, ValueError):
        return False


def setting_types(section: type, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted key, type) of every setting in a section and in the sections it contains."""
    for name, kind in get_type_hints(section, include_extras=True).items():
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            yield from setting_types(kind, f"{prefix}{name}.")
        else:
            yield prefix + name, kind


def default_of(key: str) -> Any:
    """Return the default of a setting."""
    return value_of(Config(), key)


def value_of(config: Config, key: str) -> Any:
    """Return the value of a setting."""
    value: Any = config
    for name in key.split("."):
        value = getattr(value, name)
    return value


def _file_layer(path: Path | None, types: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Yield (key, value, source) of each setting in a YAML file."""
    if path is None:
        return
    seen: set[str] = set()
    for key, value in _flatten(read_yaml(path), types, str(path)):
        if key in seen:  # for example fetch.agent, and agent in the block fetch
            raise ConfigError(f"{path}: {key} is set twice; remove one of them")
        seen.add(key)
        yield key, value, str(path)


def _flatten(
    tree: Mapping[str, Any], types: Mapping[str, Any], source: str, prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield (dotted key, value) of each setting, in sections or with a dotted name."""
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if key in types:
            yield key, value
        elif not any(known.startswith(key + ".") for known in types):
            raise _unknown(key, types, source)
        elif isinstance(value, dict):
            yield from _flatten(value, types, source, key + ".")
        elif value is not None:
            raise ConfigError(f"{source}: {key} is a section; indent its settings below it")


def _environment_layer(
    environment: Mapping[str, str], types: Mapping[str, Any]
) -> Iterator[tuple[str, Any, str]]:
    """Yield (key, value, source) of each environment variable that begins with CRAWLCTL_."""
    variables = {variable_of(key): key for key in types}
    for name, text in environment.items():
        if not name.startswith(ENVIRONMENT_PREFIX) or name in {CONFIG_VARIABLE, WEBHDFS_VARIABLE}:
            continue
        if name not in variables:
            raise _unknown(name, variables, "environment")
        key = variables[name]
        yield key, _parse_text(text, types[key], key, name), name


def variable_of(key: str) -> str:
    """Return the name of the environment variable that sets a key."""
    return ENVIRONMENT_PREFIX + key.replace(".", "_").upper()


def _flag_layer(
    flags: Mapping[str, tuple[str, str]], types: Mapping[str, Any]
) -> Iterator[tuple[str, Any, str]]:
    """Yield (key, value, source) of each setting given on the command line."""
    for key, (text, flag) in flags.items():
        if key not in types:
            raise _unknown(key, types, flag)
        yield key, _parse_text(text, types[key], key, flag), flag


def _parse_text(text: str, kind: Any, key: str, source: str) -> Any:
    """Return the value of a variable or flag; all settings but texts are read as YAML."""
    if kind is str:
        return text
    try:
        return parse_yaml(text)
    except ValueError as err:
        raise ConfigError(f"{source}: {key} has a value that is not valid YAML; put it in quotes") from err


def _convert(key: str, value: Any, kind: Any, source: str) -> Any:
    """Return a value as the type of its setting."""
    try:
        return msgspec.convert(value, kind, dec_hook=decode_unit)
    except (msgspec.ValidationError, ValueError) as err:
        strange = unknown_name(str(err), kind)
        if strange:
            raise ConfigError(f"{source}: {key}: {strange}") from err
        name, rule = _broken_rule(err, key) or (key, f"be {wanted_form(kind)}")
        raise ConfigError(f"{source}: {name} must {rule}; {given(key, value)} does not fit") from err


def _build(values: Mapping[str, Any]) -> Config:
    """Return the settings as one typed object."""
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *sections, name = key.split(".")
        branch = tree
        for section in sections:
            branch = branch.setdefault(section, {})
        branch[name] = value
    try:
        return msgspec.convert(tree, Config, dec_hook=decode_unit)
    except msgspec.ValidationError as err:
        key, rule = _broken_rule(err) or ("the settings", "fit together")
        unfit = f"; {given(key, values[key])} does not fit" if key in values else ""
        raise ConfigError(f"{key} must {rule}{unfit}") from err


def _broken_rule(err: Exception, key: str = "") -> tuple[str, str] | None:
    """Return key and text of the rule (`demand` in settings.py) that an error names, None if there is none.

    msgspec adds the place of the section, as in: grow must be 1 or more - at `$.recrawl.pace`.
    """
    match = _RULE.fullmatch(str(err))
    if match is None:
        return None
    place = match["place"].replace("[...]", ".*").strip("$.")
    return ".".join(filter(None, (key, place, match["name"]))), match["rule"]


def _unknown(name: str, known: Iterable[str], source: str) -> ConfigError:
    """Return the error for an unknown name; it suggests the most similar known name."""
    close = _similar(name, list(known))
    hint = f"did you mean {close[0]}?" if close else "'crawlctl config' lists them all"
    return ConfigError(f"{source}: unknown setting {name}; {hint}")


def _similar(name: str, known: list[str]) -> list[str]:
    """Return the known name that is most similar to a name, if any is similar.

    If the section is known, only the part after it is compared: otherwise a long section would make all its
    settings similar. If no name is similar, a setting of another section with the same last part is returned.
    """
    import difflib

    section, dot, last = name.rpartition(".")
    inside = {one.removeprefix(section + dot): one for one in known if dot and one.startswith(section + dot)}
    names = inside or {one: one for one in known}
    close = difflib.get_close_matches(last if inside else name, names, n=1)
    return [names[one] for one in close] or [one for one in known if one.rpartition(".")[2] == last][:1]
