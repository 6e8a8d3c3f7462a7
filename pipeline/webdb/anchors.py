"""The anchors of a URL: the texts most pages link to it with, those of other hosts before its own host's.

The weight of a text is the number of pages that have it. What others call a page tells more than what its own
menu does, so a page of another host lifts the text above OUTSIDE, and from then on only such pages count.

Within a round weights add up, each page being fetched once. Between rounds the greater weight is kept: a page
that is fetched again would be counted again. Since a weight only grows and the order of texts follows from
it alone, a text that was cut off for good reason never has to come back, so that cutting does not depend on
the order in which entries are merged; adding up has no such property, and is given more room for it.

Texts and weights are kept apart, heaviest first and weights of 1 left out: few anchors take more than the
text, and whoever indexes them takes the texts as they are.
"""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


MAX_ANCHORS = 16
MAX_GATHERED = 64  # while weights add up
MAX_ANCHOR_CHARS = 100
OUTSIDE = 1 << 31  # part of the weight of a text that other hosts use


class Anchors(NamedTuple):
    """Texts in the order to index them, and the weights of the first ones; the others weigh 1."""

    texts: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()


def heaviest(weights: Mapping[str, int], limit: int = MAX_ANCHORS) -> Anchors:
    """Return the texts that weigh most, among equals the first by alphabet."""
    if len(weights) == 1:  # as with most links, and this is done for every URL of a round
        ((text, weight),) = weights.items()
        return Anchors((text,), (weight,) if weight > 1 else ())
    ranked = sorted(weights.items(), key=_rank)[:limit]
    return Anchors(tuple([text for text, _ in ranked]), tuple([weight for _, weight in ranked if weight > 1]))


def _rank(weighted: tuple[str, int]) -> tuple[int, str]:
    return -weighted[1], weighted[0]


def weights_of(anchors: Anchors) -> dict[str, int]:
    """Return the weight of each text."""
    if not anchors.weights:
        return dict.fromkeys(anchors.texts, 1)
    return dict(zip(anchors.texts, chain(anchors.weights, repeat(1)), strict=False))


def add_up(one: Anchors, other: Anchors) -> Anchors:
    """Return the anchors of two sets of pages that have no page in common."""
    if not other.texts:
        return one
    weights = weights_of(one)
    for text, weight in weights_of(other).items():
        weights[text] = sum_of(weights.get(text, 0), weight)
    return heaviest(weights, MAX_GATHERED)


def sum_of(one: int, other: int) -> int:
    """Return what two weights of a text are together."""
    if (one < OUTSIDE) is not (other < OUTSIDE):
        return max(one, other)
    return one + other - (OUTSIDE if one >= OUTSIDE else 0)


def keep_greater(one: Anchors, other: Anchors) -> Anchors:
    """Return the anchors of two sets of pages that may be the same, `one` itself if `other` adds none."""
    weights = weights_of(one)
    grown = False
    for text, weight in weights_of(other).items():
        if weight > weights.get(text, 0):
            weights[text] = weight
            grown = True
    return heaviest(weights) if grown else one
