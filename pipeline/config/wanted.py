"""Says in plain words what a setting wants, from its type: `a whole number from 1 to 100, such as 8`."""

from __future__ import annotations

import re
import types
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from msgspec.structs import fields

from crawlctl.pipeline.config.secrets import MASK, PROXY, masked, shown_value
from crawlctl.pipeline.config.settings import Pace, SiteRules
from crawlctl.pipeline.config.units import Characters, Duration, Size

if TYPE_CHECKING:
    from msgspec import Meta

_UNKNOWN_NAME = re.compile(r"Object contains unknown field `(?P<name>[^`]*)`(?: - at `\$(?P<place>.*)`)?$")
_ANY_KEY = "[...]"
_STEP = re.compile(r"\[\.\.\.\]|\.\w+")

MAX_SHOWN = 60  # the most characters of a value in a message
# A value of a wrong form may be a password whose name does not show that it is one.
_MAY_BE_SECRET = (PROXY, "runner.task_env", "runner.options")


def wanted_form(kind: Any) -> str:
    """Return what a value of a type must be, with an example."""
    if get_origin(kind) in (types.UnionType, Union):
        return ", or ".join("null" if one is type(None) else wanted_form(one) for one in get_args(kind))
    if get_origin(kind) is Literal:
        *others, last = get_args(kind)
        return f"{', '.join(others)} or {last}"
    if get_origin(kind) is Annotated:
        return _bounded(*get_args(kind))
    if get_origin(kind) is tuple:
        return _LISTS[get_origin(get_args(kind)[0]) is Annotated]
    if get_origin(kind) is dict:
        return _MAPPINGS[get_args(kind)[1]]
    return _FORMS[kind]


_FORMS: dict[Any, str] = {
    str: "text, in quotes if it looks like something else",
    bool: "true or false",
    int: "a whole number, such as 8",
    float: "a number, such as 1.5",
    Duration: "a duration: a number and ms, s, min, h or d, such as 500ms, 30s or 12h",
    Size: "a size: a number and B, KiB, MiB or GiB, such as 64KiB",
    Characters: "a number of characters, such as 100000",
}
_LISTS = {  # by whether the items are patterns of names
    True: "a list of names in brackets, each with at most a * at its end, such as [utm_*, gclid]",
    False: "a list of texts in brackets, such as [one, two]",
}
_MAPPINGS: dict[Any, str] = {  # by the type that the names lead to
    str: "names with texts, such as {AWS_REGION: eu-west-1}",
    float: "hosts or beginnings of URLs with numbers, such as {docs.example.org: 1.5}",
    tuple[
        str, ...
    ]: "queries with lists of pages, such as {install python: [https://docs.example.org/using/]}",
    Pace: "names with settings of their own, such as {news.example.org: {minimum: 15min, maximum: 1d}}",
    SiteRules: "hosts or beginnings of URLs with the rules content, remove, title and fields, such as "
    "{example.org: {content: main, remove: nav}}",
}


def unknown_name(error: str, kind: Any) -> str:
    """Return what is wrong with a name inside the value of a setting, if an error of msgspec is about one.

    It says, for example: Object contains unknown field `select` - at `$[...].fields[...]`.
    """
    match = _UNKNOWN_NAME.match(error)
    if match is None:
        return ""
    for step in _STEP.findall(match["place"] or ""):
        known = {} if step == _ANY_KEY else {one.encode_name: one.type for one in fields(kind)}
        kind = get_args(kind)[-1] if step == _ANY_KEY else known[step[1:]]
    *others, last = (one.encode_name for one in fields(kind))
    return f"{match['name']!r} is none of {', '.join(others)} or {last}"


def _bounded(kind: Any, meta: Meta) -> str:
    """Return the form of a number with limits, and an example within them."""
    noun = "a whole number" if kind is int else "a number"
    low, high = (meta.ge if meta.ge is not None else meta.gt), (meta.le if meta.le is not None else meta.lt)
    if low is None or low == high:
        return _FORMS[kind]
    if high is None:
        limits = f"of {low} or more" if meta.gt is None else f"above {low}"
    elif meta.gt is None:
        limits = f"from {low} to {high}"
    else:
        limits = f"above {low}, up to {high}"
    return f"{noun} {limits}, such as {_example(kind, low, high)}"


def _example(kind: Any, low: float, high: float | None) -> str:
    if kind is int:
        return str(low + 1)
    return str(low + 1 if high is None else high)


def given(key: str, value: Any) -> str:
    """Return the value that was given for a setting, cut to a readable length and without secrets."""
    if key in _MAY_BE_SECRET:
        return MASK
    text = masked(str(shown_value(key, value)))
    return repr(text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…")
