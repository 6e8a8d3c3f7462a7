"""How far a page, or a link to one, is about what a focused crawl is looking for: from 0 to 1.

A page shows it by its words. A link shows it by its anchor and by the path of its URL, and it stands on a
page: half of the relevance of that goes over to it, since pages on a matter link to each other. The score of
a link, by which it waits for its turn, is multiplied by what its relevance is worth; as a page gives its
links a part of its own score, the way to a relevant page is preferred too, less with every step.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from crawlctl.pipeline.text.words.tokens import tokens
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.hosts import host_of, registrable_domain, url_in_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.config.settings import FocusSettings

DECAY = 0.5
ENOUGH = 3  # wishes that a page fulfils; fewer where there are not as many
OFTEN = 3  # times that a word stands in a page, to count fully
IN_TITLE = 2.0
_STEPS = 8  # relevance is told apart in so many steps, since links are handed on in groups of the same
_REMEMBERED = 1 << 14


class Focus:
    """Judges pages and links by the settings of a crawl."""

    def __init__(self, settings: FocusSettings) -> None:
        wished = [*settings.terms, *settings.phrases]
        self._wishes = sorted({tuple(tokens(wish)) for wish in wished} - {()})
        self._examples = frozenset(map(canonical, settings.examples))
        self._domains = frozenset(settings.domains)
        self._weight = settings.weight
        self._enough = min(ENOUGH, len(self._wishes))
        self.link = lru_cache(_REMEMBERED)(self._link)  # a menu has the same links on every page

    def page(self, url: str, title: str, text: str) -> float:
        """Return the relevance of a page."""
        if self._is_named(url):
            return 1.0
        if not self._wishes:
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
        """Return what a score is multiplied by."""
        return 1.0 + self._weight * relevance

    def dealt(
        self, links: Iterable[tuple[bytes, str]], relevance: float
    ) -> list[tuple[float, Sequence[tuple[bytes, str]]]]:
        """Deal links, WebDB key and anchor each, that stand on a page of some relevance, by their boost."""
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
        """Return how often each wish occurs."""
        counted = Counter(words)
        return [counted[wish[0]] if len(wish) == 1 else _times(wish, words, counted) for wish in self._wishes]


def _times(phrase: tuple[str, ...], words: list[str], counted: Counter[str]) -> int:
    if not all(counted[word] for word in phrase):
        return 0
    starts = (place for place, word in enumerate(words) if word == phrase[0])
    return sum(tuple(words[start : start + len(phrase)]) == phrase for start in starts)


def focus_of(settings: FocusSettings) -> Focus | None:
    """Return the focus of a crawl, None where it has none."""
    wanted = (settings.terms, settings.phrases, settings.examples, settings.domains)
    return Focus(settings) if any(wanted) else None
