"""ExplicitLists: how explicit a page is, by the words and hosts that the operator of a crawl has listed.

The number is computed when a page is parsed, and stored with its document; safe search leaves pages out by
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.text.details.site_keys import site_key
from crawlctl.pipeline.text.documents.page import A_LITTLE_EXPLICIT, CLEARLY_EXPLICIT
from crawlctl.pipeline.text.words.tokens import tokens
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MANY = 3  # how many listed words in a text make a page clearly explicit
_MAX_LISTED = 10_000  # the most words, and the most hosts
_MAX_PHRASE = 8  # the most words of a phrase


class ExplicitLists:
    """The lists of one crawl, parsed once and kept for the life of a task."""

    def __init__(self, words: Sequence[str], hosts: Sequence[str]) -> None:
        self._hosts = [site_key(host) for host in hosts]
        self._phrases: dict[str, list[tuple[str, ...]]] = {}  # by their first word
        for text in words:
            phrase = tuple(tokens(text))
            self._phrases.setdefault(phrase[0], []).append(phrase)

    def rating(self, url: str, title: str = "", headings: Iterable[str] = (), text: str = "") -> int:
        """Return A_LITTLE_EXPLICIT, CLEARLY_EXPLICIT, or 0 for a page that is not explicit."""
        if self._hosts and self._is_listed(url):
            return CLEARLY_EXPLICIT
        if not self._phrases:
            return 0
        if any(self._count(short, 1) for short in (url, title, *headings)):
            return CLEARLY_EXPLICIT
        found = self._count(text, _MANY)
        return CLEARLY_EXPLICIT if found >= _MANY else A_LITTLE_EXPLICIT if found else 0

    def _is_listed(self, url: str) -> bool:
        host = host_of(url)
        name, colon, port = host.rpartition(":")
        bare = name if colon and port.isdigit() else host
        return any(key.matches(url, host, bare) for key in self._hosts)

    def _count(self, text: str, enough: int) -> int:
        """Return how many listed words and phrases a text has, counted up to `enough`."""
        words, found = tokens(text), 0
        for at, word in enumerate(words):
            phrases = self._phrases.get(word)
            if phrases and any(tuple(words[at : at + len(phrase)]) == phrase for phrase in phrases):
                found += 1
                if found == enough:
                    break
        return found


def check_lists(words: Sequence[str], hosts: Sequence[str]) -> None:
    """Raise ConfigError for the first entry that cannot be used; the message says how to write it."""
    for name, listed in (("words", words), ("hosts", hosts)):
        if len(listed) > _MAX_LISTED:
            raise ConfigError(f"index.explicit_{name} has more than {_MAX_LISTED:,} entries; remove some")
    for text in words:
        if not 0 < len(tokens(text)) <= _MAX_PHRASE:
            raise ConfigError(
                f"index.explicit_words: {text!r} has no word, or more than {_MAX_PHRASE}; "
                "write a word or a phrase"
            )
    for host in hosts:
        try:
            site_key(host)
        except ConfigError as error:
            raise ConfigError(f"index.explicit_hosts: {str(error).removeprefix('sites: ')}") from error
