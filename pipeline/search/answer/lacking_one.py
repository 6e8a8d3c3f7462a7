"""Puts pages that lack one word of a query among those that have all words (plan/most_words.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.search.plan.most_words import remaining

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.search.answer.folding import Ranking
    from crawlctl.pipeline.search.evaluate.matches import Matches, Ranked


def reduced(ranking: Iterable[Ranked]) -> list[Ranked]:
    """Return documents with their scores reduced, because they lack one word."""
    scores = ((ranked, remaining(ranked.score)) for ranked in ranking)
    return [ranked._replace(score=score, lacking=ranked.score - score) for ranked, score in scores]


def with_others(ranking: Ranking, others: Sequence[Ranked]) -> Ranking:
    """Return a ranking with the documents `others` merged into it by score.

    Documents of `others` that would come after the whole ranking are left out: they are ordinary partial
    matches.
    """
    if not others:
        return ranking

    def ranked(matches: Matches, count: int) -> list[Ranked]:
        return merged(ranking(matches, count), others)[:count]

    return ranked


def merged(first: Iterable[Ranked], others: Sequence[Ranked]) -> list[Ranked]:
    """Return the ranking of `first`, with those of `others` in it that score higher than one of the first."""
    found: list[Ranked] = []
    at = 0
    for ranked in first:
        while at < len(others) and others[at].score > ranked.score:
            found.append(others[at])
            at += 1
        found.append(ranked)
    return found
