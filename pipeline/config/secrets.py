"""Keeps the password of a proxy out of everything that is shown: messages, logs, listings, command lines."""

from __future__ import annotations

from urllib.parse import unquote

MASK = "***"


def redacted(url: str) -> str:
    """Return a URL with its password hidden; a name without a password is hidden too, for it may be a token.

    All before the last @ counts as name and password, even where a URL parser would read it otherwise: a
    password with / or @ that somebody forgot to percent-encode stays hidden as well.
    """
    prefix, secret, rest = _split(url)
    if not secret:
        return url
    name, colon, _ = secret.partition(":")
    return f"{prefix}{name}:{MASK}@{rest}" if colon else f"{prefix}{MASK}@{rest}"


def without_secret(text: str, url: str) -> str:
    """Return a message of another program with the password of `url` hidden wherever it is quoted."""
    secret = _split(url)[1]
    if not secret:
        return text
    password = secret.partition(":")[2] or secret
    # The longest first, so that no part of one form is left over by another.
    forms = {url: redacted(url), secret: MASK, password: MASK, unquote(password): MASK}
    for form in sorted(filter(None, forms), key=len, reverse=True):
        text = text.replace(form, forms[form])
    return text


def _split(url: str) -> tuple[str, str, str]:
    """Return what stands before the name and password of a URL, both of them, and what follows the @."""
    scheme, slashes, rest = url.partition("://")
    if not slashes:
        scheme, rest = "", url
    secret, _, place = rest.rpartition("@")
    return scheme + slashes, secret, place
