"""Whether a known URL belongs to the crawl: by the scope, and by how it came into the crawl.

The scope says what the crawl visits. A page that the user has imported from an archive stays in search, even
if the scope excludes it; it just is not visited. `crawlctl forget` removes imported pages too.

The source of an imported page is `warc:` and the name of the archive. It outlasts links to the page that are
found later (webdb/entries.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.scope.scope import Exclusion, Scope

_ARCHIVE = "warc:"
_MAX_NAME_CHARS = 100


class Belonging(NamedTuple):
    """What keeps the crawl from visiting a URL, and whether the page stays in search all the same."""

    exclusion: Exclusion | None
    stays: bool


def belonging(scope: Scope, url: str, depth: int, source: Callable[[], str]) -> Belonging:
    """Return whether a URL belongs to the crawl; its source is asked for only if the scope excludes it."""
    exclusion = scope.verdict(url, depth)
    if exclusion is None:
        return Belonging(None, stays=True)
    return Belonging(exclusion, stays=not exclusion.is_final and is_imported(source()))


def archive_source(name: str) -> str:
    """Return the source of the pages of an archive, given as a path or URI."""
    own_name = name.rstrip("/").rpartition("/")[2][:_MAX_NAME_CHARS]
    return _ARCHIVE + own_name.encode("utf-8", "replace").decode()


def is_imported(source: str) -> bool:
    """Return whether this is the source of an imported page."""
    return source.startswith(_ARCHIVE)


def archive_of(source: str) -> str:
    """Return the name of the archive of an imported page, an empty string for other pages."""
    return source.removeprefix(_ARCHIVE) if is_imported(source) else ""
