"""Names of the crawls of a server that has several: `--store docs=s3://bucket/docs --store blog=blog`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,30})=(.+)")


class NamedStore(NamedTuple):
    """A crawl of a server; if it is the server's only crawl, its name is empty."""

    name: str
    uri: str


def base_of(name: str) -> str:
    """Return the beginning of all paths of a crawl that is not the first crawl of a server."""
    return f"/in/{name}"


def named_stores(texts: Sequence[str]) -> list[NamedStore]:
    """Return the stores of a command line: one URI, or any number of NAME=URI."""
    if len(texts) == 1 and not _NAMED.fullmatch(texts[0]):
        return [NamedStore("", texts[0])]
    found: dict[str, NamedStore] = {}
    for text in texts:
        match = _NAMED.fullmatch(text)
        if match is None:
            raise ConfigError(
                f"--store {text} has no name; of several stores each needs one, as in --store docs={text}"
            )
        if match[1] in found:
            raise ConfigError(f"two stores have the name {match[1]}; give each --store a name of its own")
        found[match[1]] = NamedStore(match[1], match[2])
    return list(found.values())
