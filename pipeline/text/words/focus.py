"""Judges how relevant a page or a link is to a focused crawl, from 0 to 1.

A page is judged by its words. A link is judged by its anchor text and the path of its URL; and it inherits
half of the relevance of its page, because pages about the same topic link to each other. The score of a link,
which decides when it is fetched, is multiplied by a boost that grows with its relevance. A page gives a part
of its own score to its links, so pages on the way to a relevant page are preferred too, less with every step.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from crawlctl.pipeline.text.words.tokens import tokens
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.domains import registrable_domain
from crawlctl.pipeline.urls.hosts import host_of, url_in_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.config.settings import FocusSettings

DECAY = 0.5  # the share of the relevance of a page that its links inherit
ENOUGH = 3  # terms or phrases that make a page fully relevant; fewer if the settings have fewer
OFTEN = 3  # a term with this number of occurrences in the text of a page counts fully
IN_TITLE = 2.0  # weight of a term in the title
_STEPS = 8  # levels of relevance: links are passed on in groups of the same level
_REMEMBERED = 1 << 14


class Focus:
    """Judges pages and links by the `focus` settings, for the life of a task."""

    def __init__(self, settings: FocusSettings) -> None:
        topics = [*settings.terms, *settings.phrases]
        self._topics = sorted({tuple(tokens(topic)) for topic in topics} - {()})
        self._examples = frozenset(map(canonical, settings.examples))
        self._domains = frozenset(settings.domains)
        self._weight = settings.weight
        self._enough = min(ENOUGH, len(self._topics))
        self.link = lru_cache(_REMEMBERED)(self._link)  # a menu has the same links on every page

    def page(self, url: str, title: str, text: str) -> float:
        """Return the relevance of a page."""
        if self._is_named(url):
            return 1.0
        if not self._topics:
            return 0.0
        in_title, in_text = tokens(title), tokens(text)
        found = sum(IN_TITLE * min(1, times) for times in self._count(in_title)) + sum(
            min(times, OFTEN) / OFTEN for times in self._count(in_text)
        )
        return min(1.0, found / self._enough)

    def _link(self, url: str, anchor: str) -> float:
        """Return the relevance of a link by itself."""
        if self._is_named(url):
            return 1.0
        path = url[url.index("/", 8) :]
        return 1.0 if any(self._count(tokens(anchor))) or any(self._count(tokens(path))) else 0.0

    def boost(self, relevance: float) -> float:
        """Return the factor by which the score of a link of this relevance is multiplied."""
        return 1.0 + self._weight * relevance

    def dealt(
        self, links: Iterable[tuple[bytes, str]], relevance: float
    ) -> list[tuple[float, Sequence[tuple[bytes, str]]]]:
        """Group the links (WebDB key, anchor) of a page of this relevance by their boost."""
        groups: defaultdict[int, list[tuple[bytes, str]]] = defaultdict(list)
        for key, anchor in links:
            url = url_in_key(key).decode("ascii")
            groups[round(_STEPS * max(DECAY * relevance, self.link(url, anchor)))].append((key, anchor))
        return [(self.boost(step / _STEPS), some) for step, some in sorted(groups.items())]

    def _is_named(self, url: str) -> bool:
        if url in self._examples:
            return True
        return bool(self._domains) and registrable_domain(host_of(url)) in self._domains

    def _count(self, words: list[str]) -> list[int]:
        """Return how often each term or phrase occurs."""
        counted = Counter(words)
        return [
            counted[topic[0]] if len(topic) == 1 else _times(topic, words, counted) for topic in self._topics
        ]


def _times(phrase: tuple[str, ...], words: list[str], counted: Counter[str]) -> int:
    if not all(counted[word] for word in phrase):
        return 0
    starts = (index for index, word in enumerate(words) if word == phrase[0])
    return sum(tuple(words[start : start + len(phrase)]) == phrase for start in starts)


def focus_of(settings: FocusSettings) -> Focus | None:
    """Return the focus of a crawl, or None if its settings name no topic."""
    given = (settings.terms, settings.phrases, settings.examples, settings.domains)
    return Focus(settings) if any(given) else None
