"""Hides passwords and keys in everything that is shown: messages, logs, tables, command lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

MASK = "***"
PROXY = "fetch.proxy"
_IN_URL = re.compile(r"(://[^\s/?#@:]*:)[^\s/?#]*@")
# Names of environment variables in runner.task_env, and of those set by mrjob options in runner.options.
_SECRET_NAME = re.compile(r"SECRET|PASSW|TOKEN|CREDENTIAL|API_?KEY", re.I)
# the most characters behind such a word in a name: without a bound, the time for long values would grow
# with their square
_MAX_NAME = 100
_ASSIGNED = re.compile(rf"((?:{_SECRET_NAME.pattern})[^=\s]{{0,{_MAX_NAME}}}=).+", re.I | re.S)


def redacted(url: str) -> str:
    """Return a URL with its password hidden; a name without a password is hidden too: it may be a token.

    Everything before the last @ counts as name and password, even where a URL parser would disagree. So a
    password stays hidden even if it contains a / or @ that should have been percent-encoded.
    """
    prefix, secret, rest = _split(url)
    if not secret:
        return url
    name, colon, _ = secret.partition(":")
    return f"{prefix}{name}:{MASK}@{rest}" if colon else f"{prefix}{MASK}@{rest}"


def without_secret(text: str, url: str) -> str:
    """Return a message of another program with the password of `url` hidden wherever it occurs."""
    secret = _split(url)[1]
    if not secret:
        return text
    password = secret.partition(":")[2] or secret
    # Replace the longest form first. Otherwise a shorter one could leave a part of it visible.
    forms = {url: redacted(url), secret: MASK, password: MASK, unquote(password): MASK}
    for form in sorted(filter(None, forms), key=len, reverse=True):
        text = text.replace(form, forms[form])
    return text


def masked(text: str) -> str:
    """Return a text with the password of every URL in it hidden."""
    return _IN_URL.sub(rf"\1{MASK}@", text)


def shown_value(key: str, value: Any) -> Any:
    """Return the value of a setting (texts, numbers, lists, mappings) with its secrets hidden."""
    if isinstance(value, str):
        return redacted(value) if key == PROXY else _ASSIGNED.sub(rf"\1{MASK}", masked(value))
    if isinstance(value, Mapping):
        return {
            name: MASK if _SECRET_NAME.search(name) else shown_value(key, inner)
            for name, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return type(value)(shown_value(key, inner) for inner in value)
    return value


def _split(url: str) -> tuple[str, str, str]:
    """Return the scheme with ://, the name and password, and the rest of a URL after the @."""
    scheme, slashes, rest = url.partition("://")
    if not slashes:
        scheme, rest = "", url
    secret, _, address = rest.rpartition("@")
    return scheme + slashes, secret, address
