"""Checks that two stores lie apart: a copy into its own source would never end, or damage it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from crawlctl.pipeline.store.base import Store


def require_apart(source: Store, destination: Store) -> None:
    """Raise ConfigError if one store lies in the other."""
    one, other = _address(source.uri), _address(destination.uri)
    if one == other:
        raise ConfigError(f"SRC and DST are the same store, {source.uri}; name another DST")
    for inner, outer in ((one, other), (other, one)):
        if inner.startswith(outer):
            raise ConfigError(
                f"{inner.rstrip('/')} lies inside {outer.rstrip('/')}; "
                "name a DST that is apart from its source"
            )


def _address(uri: str) -> str:
    return (uri if "://" in uri else os.path.realpath(uri)).rstrip("/") + "/"
