"""Writes conf/crawl.yaml and docs/settings.md from the texts in settings.py.

Run `python -m crawlctl.pipeline.config.reference` in a checkout after every change to settings.py.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from crawlctl.pipeline.config.load import default_of
from crawlctl.pipeline.config.plain_values import yaml_value
from crawlctl.pipeline.config.settings import EVERYDAY, OWN_SECTIONS, Config
from crawlctl.pipeline.config.units import Characters, Duration, Size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[2]
YAML_FILE = ROOT / "conf" / "crawl.yaml"
DOCUMENT = ROOT / "docs" / "settings.md"

_WIDTH = 100  # the most columns of a comment in the YAML file
_LONG_LIST = 12  # the document shows only the beginning of lists with more items
_SHOWN_ITEMS = 3
_BASIC_TYPES = {
    str: "text",
    bool: "true or false",
    int: "whole number",
    float: "number",
    Duration: "duration",
    Size: "size",
    Characters: "number of characters",
}

_SECTIONS = "{sections}"  # in the heads: stands for the names of OWN_SECTIONS
_YAML_HEAD = """\
# The settings of a crawl. Copy this file to crawl.yaml in the folder you work in, and remove the # before
# the lines you want to change. A setting that is not set has the default shown here.
#
# Lists are written [a, b]. A section may also be written as a block:
#   fetch:
#     contact: mailto:me@example.org
#     max_body: 16MiB
#
# Durations are a number and ms, s, min, h, d or w (milliseconds to weeks): 500ms, 1.5s, 5min, 12h, 7d.
# Sizes are a number and B, KiB, MiB or GiB (powers of 1024; KB, MB and GB mean the same): 64KiB, 8MiB.
# The letter m alone is allowed in both: 5m means 5 minutes in a duration and 5 MiB in a size.
#
# A variable such as CRAWLCTL_GC_MIN_AGE=2h overrides this file, and a flag such as --set gc.min_age=2h
# overrides both. `crawlctl config` shows every value in use and where it comes from.
#
# A crawl keeps the settings of its own sections in its store. These sections are
#   {sections}
# Here they count only for a crawl that is made with this file; after that, change them with
# `crawlctl config set scope.max_depth=3` or `crawlctl config edit`.
#
# This file is generated from pipeline/config/settings.py, like docs/settings.md.
"""

_DOCUMENT_HEAD = """\
# Settings

You can set every value in three places. Each place overrides the ones before it:

1. a settings file: `crawl.yaml` in the folder you work in, else `conf/crawl.yaml`, or the file named by
   `--config` or `CRAWLCTL_CONFIG`;
2. an environment variable: `CRAWLCTL_` and the name of the setting in capitals, with `_` for each dot, such
   as `CRAWLCTL_GC_MIN_AGE=2h`;
3. a flag: `--set gc.min_age=2h`, or a flag of its own such as `--store`.

`crawlctl config` shows every value in use and where it comes from. An unknown name or a wrong type is an
error.

These sections belong to the crawl (without `index.memory`):
{sections}.
It keeps their values in its store from the moment it is made; for an existing crawl a file or variable does
not override them. `crawlctl config set scope.max_depth=3` and
`crawlctl config edit` change them. [crawling.md](crawling.md#a-crawl-keeps-its-own-rules) says more.

In a settings file, write the full name, or a section as a block. Both of these mean the same:

    fetch.contact: mailto:me@example.org
    fetch.max_body: 16MiB

    fetch:
      contact: mailto:me@example.org
      max_body: 16MiB

[conf/crawl.yaml](../conf/crawl.yaml) holds all settings with their defaults, ready to copy. Both files are
generated from `pipeline/config/settings.py` by `python -m crawlctl.pipeline.config.reference`.

## Types and units

| type | how to write it |
|---|---|
| duration | a number and `s`, `min`, `h`, `d` or `w` (seconds to weeks): `30s`, `5min`, `1.5h` |
| size | a number and `B`, `KiB`, `MiB` or `GiB` (powers of 1024): `64KiB`, `8MiB` |
| list | `[a, b]`; `[]` is empty |
| mapping | `{name: value, other: value}`; `{}` is empty |
| or null | `null` has a special meaning, which the text explains |

Without a unit, durations are in seconds and sizes in bytes. `KB`, `MB` and `GB` mean the same as `KiB`, `MiB`
and `GiB`. The letter `m` alone is allowed in both, as in older files: `5m` means 5 minutes in a duration and
5 MiB in a size. Better write `5min` or `5MiB`.
"""


@dataclass(frozen=True)
class Setting:
    """The texts about one setting in the generated files."""

    key: str
    kind: str
    default: Any
    text: str

    @property
    def section(self) -> str:
        """The first name of the key; empty for a setting that belongs to no section."""
        return self.key.partition(".")[0] if "." in self.key else ""

    @property
    def is_everyday(self) -> bool:
        """Whether most users may want to change it."""
        return any(self.key == name or self.key.startswith(name + ".") for name in EVERYDAY)


def all_settings(section: type = Config, prefix: str = "") -> Iterator[Setting]:
    """Yield every setting below a section, in the order of settings.py."""
    texts = field_texts(section)
    for name, kind in get_type_hints(section, include_extras=True).items():
        key = prefix + name
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            yield from all_settings(kind, f"{key}.")
        else:
            yield Setting(key, type_name(kind), default_of(key), texts[name])


def field_texts(section: type) -> dict[str, str]:
    """Return the text below each field of a class, by the name of the field.

    Python itself does not keep these texts, so they are taken from the source.
    """
    lines = next(
        node.body for node in ast.parse(inspect.getsource(section)).body if isinstance(node, ast.ClassDef)
    )
    return {
        field.target.id: " ".join(below.value.value.split())
        for field, below in pairwise(lines)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(below.value.value, str)
    }


def type_name(kind: Any) -> str:
    """Return the type of a setting in words, with its bounds."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return type_name(inner[0]) + _bounds(inner[1:])
    if origin in (Union, UnionType):
        (only,) = (one for one in inner if one is not NoneType)
        return f"{type_name(only)}, or null"
    if origin is Literal:
        return "one of " + ", ".join(inner)
    if origin in (tuple, dict):
        return "list" if origin is tuple else "mapping"
    return _BASIC_TYPES[kind]


def _bounds(constraints: Iterable[Any]) -> str:
    """Return the bounds of a number in words."""
    for one in constraints:
        if one.ge is not None:
            return f" from {one.ge} to {one.le}" if one.le is not None else f", {one.ge} or more"
        if one.gt is not None:
            return f" above {one.gt}" + (f", up to {one.le}" if one.le is not None else "")
    return ""


def yaml_file() -> str:
    """Return the content of conf/crawl.yaml: every setting with its default, in comments."""
    everyday, advanced = _split(all_settings())
    head = _YAML_HEAD.replace(_SECTIONS, ", ".join(OWN_SECTIONS))
    blocks = [head, "# ---- Everyday settings " + "-" * 76 + "\n", *map(_yaml_block, everyday)]
    blocks.append("# ---- Advanced settings: the defaults suit most crawls " + "-" * 47 + "\n")
    for section, settings in _by_section(advanced):
        blocks.append(yaml_comment(f"-- {section}: {_about(section)}") + "\n")
        blocks.extend(map(_yaml_block, settings))
    return "\n".join(blocks)


def _yaml_block(setting: Setting) -> str:
    return f"{yaml_comment(setting.text)}\n#{setting.key}: {yaml_value(setting.default)}\n"


def yaml_comment(text: str) -> str:
    """Return a text as lines of a comment."""
    lines = textwrap.wrap(text, _WIDTH - 2, break_long_words=False, break_on_hyphens=False)
    return textwrap.indent("\n".join(lines), "# ")


def document() -> str:
    """Return the content of docs/settings.md: tables of all settings."""
    everyday, advanced = _split(all_settings())
    head = _DOCUMENT_HEAD.replace(_SECTIONS, ", ".join(f"`{name}`" for name in OWN_SECTIONS))
    blocks = [head, "## Everyday settings\n", _table(everyday), "## Advanced settings\n"]
    blocks.append("The defaults suit most crawls.\n")
    for section, settings in _by_section(advanced):
        blocks.append(f"### {section}\n\n{_about(section)}\n")
        blocks.append(_table(settings))
    return "\n".join(blocks)


def _table(settings: Iterable[Setting]) -> str:
    rows = (
        f"| `{one.key}` | {_default_cell(one.default)} | {one.kind} | {_cell(one.text)} |" for one in settings
    )
    return "\n".join(["| setting | default | type | meaning |", "|---|---|---|---|", *rows, ""])


def _default_cell(value: Any) -> str:
    if isinstance(value, tuple) and len(value) > _LONG_LIST:
        return f"`[{', '.join(value[:_SHOWN_ITEMS])}, …]`, {len(value)} in all"
    return f"`{yaml_value(value)}`"


def _cell(text: str) -> str:
    """Return a text for a Markdown table, in which * and | are plain characters."""
    return text.replace("|", "\\|").replace("*", "\\*")


def _split(settings: Iterable[Setting]) -> tuple[list[Setting], list[Setting]]:
    """Return the everyday settings in the order of EVERYDAY, and the others in the order of settings.py."""
    every = list(settings)
    everyday = [
        one for name in EVERYDAY for one in every if one.key == name or one.key.startswith(name + ".")
    ]
    return everyday, [one for one in every if not one.is_everyday]


def _by_section(settings: Iterable[Setting]) -> Iterator[tuple[str, list[Setting]]]:
    """Yield each section with its settings."""
    for section, members in groupby(settings, attrgetter("section")):
        yield section, list(members)


def _about(section: str) -> str:
    """Return the docstring of a section, as text."""
    kind = get_type_hints(Config)[section]
    return " ".join((inspect.getdoc(kind) or "").split())


if __name__ == "__main__":
    YAML_FILE.write_text(yaml_file(), encoding="utf-8")
    DOCUMENT.write_text(document(), encoding="utf-8")
