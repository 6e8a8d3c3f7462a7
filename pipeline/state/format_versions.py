"""Refuses a JSON file of a newer crawlctl, before its other fields are read."""

from __future__ import annotations

import msgspec

from crawlctl.pipeline.errors import StoreError


class _Versioned(msgspec.Struct):
    version: int


def check_version(data: bytes, name: str, newest: int) -> None:
    """Raise StoreError if the file `name` has a format after `newest`; DecodeError if it has no version."""
    version = msgspec.json.decode(data, type=_Versioned).version
    if version > newest:
        raise StoreError(
            f"{name} has format {version} and this crawlctl reads up to {newest}; "
            "upgrade it: pip install --upgrade crawlctl"
        )
