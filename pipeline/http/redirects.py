"""The target of a redirect, and the check of a URL before it is requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.http.exchange import ErrorKind, FetchError
from crawlctl.pipeline.urls.canonical import canonical, canonical_link
from crawlctl.pipeline.urls.ports import with_good_port

if TYPE_CHECKING:
    from collections.abc import Iterable

REDIRECTS = frozenset({300, 301, 302, 303, 307, 308})
_MULTIPLE_CHOICES = 300


def redirect_of(
    url: str, status: int, headers: Iterable[tuple[str, str]]
) -> tuple[str | None, FetchError | None]:
    """Return the canonical target of a redirect or the error in it; (None, None) if it is no redirect."""
    if status not in REDIRECTS:
        return None, None
    location = next((value for name, value in headers if name == "location"), None)
    if location is None:
        if status == _MULTIPLE_CHOICES:
            return None, None  # its body lists the choices; a Location is optional
        return None, FetchError(ErrorKind.BAD_RESPONSE, f"status {status} without a Location header")
    try:
        return canonical_link(url, location), None
    except UrlError as err:
        return None, FetchError(_kind_of_bad_url(location), f"redirect to {err}")


def checked_url(url: str) -> tuple[str, FetchError | None]:
    """Return the canonical form of a URL and None, or the URL unchanged and why it cannot be fetched."""
    try:
        return with_good_port(canonical(url)), None
    except UrlError as err:
        return url, FetchError(_kind_of_bad_url(url), str(err))


def _kind_of_bad_url(url: str) -> ErrorKind:
    scheme, colon, _ = url.strip().partition(":")
    if colon and scheme.isalnum() and scheme.lower() not in ("http", "https"):
        return ErrorKind.UNSUPPORTED_SCHEME
    return ErrorKind.BAD_URL
