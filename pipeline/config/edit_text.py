"""The crawl's own settings as a text for an editor, with explanations; errors name the line of a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from crawlctl.pipeline.config.load import all_types, default_of, typed_value
from crawlctl.pipeline.config.own_layer import require_own, with_own
from crawlctl.pipeline.config.plain_values import plain_value, yaml_value
from crawlctl.pipeline.config.settings import Config, is_own
from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEAD = """\
# The settings of the crawl in {store}.
# Remove the # before a line to set a value; put it back to return to the default, which the line then shows.
# Save and leave the editor to change the crawl. A text without changes changes nothing.
"""


def edit_text(own: Mapping[str, Any], store: str) -> str:
    """Return all settings that belong to the crawl as YAML; those with their default are comments."""
    from crawlctl.pipeline.config.reference import all_settings, yaml_comment

    blocks = [_HEAD.format(store=store)]
    for setting in all_settings():
        if is_own(setting.key):
            value, mark = (own[setting.key], "") if setting.key in own else (setting.default, "#")
            blocks.append(f"{yaml_comment(setting.text)}\n{mark}{setting.key}: {yaml_value(value)}\n")
    strange = own.keys() - all_types()
    blocks.extend(f"# This crawlctl does not know it.\n{key}: {yaml_value(own[key])}\n" for key in strange)
    return "\n".join(blocks)


def read_edited(text: str) -> dict[str, Any]:
    """Return the values in an edited text as plain values by key; an error names the line."""
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, value, line in _lines(text):
        if key in lines:
            raise ConfigError(f"line {line}: {key} is set twice, first on line {lines[key]}; remove one")
        values[key], lines[key] = _checked(key, value, line), line
    _check_together(values, lines)
    return {key: plain_value(value) for key, value in values.items() if value != default_of(key)}


def _checked(key: str, value: Any, line: int) -> Any:
    typed = typed_value(key, value, f"line {line}")
    try:
        require_own(key)
    except ConfigError as err:
        raise ConfigError(f"line {line}: {err}") from err
    return typed


def _check_together(values: Mapping[str, Any], lines: Mapping[str, int]) -> None:
    """Raise an error if settings do not fit together; it names the line that does not fit."""
    kept, culprit, problem = dict(values), "", None
    while True:
        try:
            with_own(Config(), {key: plain_value(value) for key, value in kept.items()})
        except ConfigError as err:
            problem = problem or err
            culprit, _ = kept.popitem()
        else:
            break
    if problem is not None:
        raise ConfigError(f"line {lines[culprit]}: {problem}") from problem


def _lines(text: str) -> Iterator[tuple[str, Any, int]]:
    """Yield (key, value, line) of each setting in a YAML text, in sections or with a dotted name."""
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is None:
            return
        if not isinstance(root, yaml.MappingNode):
            raise ConfigError("line 1: no settings; write lines such as 'scope.max_depth: 3'")
        for key, node, line in _leaves(root, all_types()):
            yield key, loader.construct_object(node, deep=True), line
    except yaml.MarkedYAMLError as err:
        mark = err.problem_mark or err.context_mark
        raise ConfigError(f"line {mark.line + 1 if mark else 1}: not valid YAML: {err.problem}") from err
    except (yaml.YAMLError, ValueError) as err:  # a character that YAML forbids; a date such as 2024-13-40
        raise ConfigError(f"the text is not valid YAML: {' '.join(str(err).split())}") from err


def _leaves(
    node: yaml.MappingNode, types: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, yaml.Node, int]]:
    for name, value in node.value:
        key, line = f"{prefix}{name.value}", name.start_mark.line + 1
        is_section = key not in types and any(known.startswith(f"{key}.") for known in types)
        if is_section and isinstance(value, yaml.MappingNode):
            yield from _leaves(value, types, f"{key}.")
        elif is_section:
            raise ConfigError(f"line {line}: {key} is a section; indent its settings below it")
        else:
            yield key, value, line
