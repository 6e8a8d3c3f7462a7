"""The leaves of a query's tree: what a single token of it asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlctl.pipeline.search.query.lexer import PHRASE, PREFIX, RANGE, SITE, range_of
from crawlctl.pipeline.search.query.query_errors import complaint
from crawlctl.pipeline.search.query.tree import Phrase, Prefix, Range, Site, Word
from crawlctl.pipeline.text.words.tokens import tokens as words_in

if TYPE_CHECKING:
    from crawlctl.pipeline.search.query.lexer import Token
    from crawlctl.pipeline.search.query.tree import Leaf

_HOST = r"[a-z0-9._-]+(:[0-9]+)?|\[[0-9a-f:.]+\](:[0-9]+)?"
_NATIONAL_HOST = r"[\w.-]+(:[0-9]+)?"


def leaf_of(token: Token, field: str | None, source: str, notices: list[str]) -> Leaf:
    """Return the leaf of a token that stands behind a field, or behind none."""
    if field == SITE:
        return Site(_host(token, source, notices))
    if token.kind == RANGE:
        return Range(*range_of(token.text), field)
    if token.kind == PREFIX:
        return Prefix(words_in(token.text)[0], field)
    words = tuple(token.text.split())
    if token.kind == PHRASE and len(words) > 1:
        return Phrase(words, field)
    return Word(words[0], field)


def _host(token: Token, source: str, notices: list[str]) -> str:
    """Return the host that a token names, be it as a URL or with a star for the subdomains."""
    text = token.text.strip().lower()
    host, _, path = text.rpartition("://")[2].partition("/")
    host = _in_ascii(host.removeprefix("*").strip("."))
    if not re.fullmatch(_HOST, host) or not words_in(host):
        raise complaint("site: takes a host, as site:docs.python.org", source, token.at)
    if path:
        notices.append("site: takes a host; for part of an address use url:")
    return host


def _in_ascii(host: str) -> str:
    if host.isascii() or not re.fullmatch(_NATIONAL_HOST, host):
        return host
    from crawlctl.pipeline.errors import UrlError
    from crawlctl.pipeline.urls.canonical import canonical
    from crawlctl.pipeline.urls.hosts import host_of

    try:
        return host_of(canonical(f"http://{host}/"))
    except UrlError:
        return host
