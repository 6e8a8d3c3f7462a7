"""The anchors of a URL: the texts of the links to it, with the number of pages that use each text.

The weight of a text tells how many pages link with it, and where. A link in the content of a page says more
than one in a menu, and a link from another host says more than one of the own site. So there are levels:

    boilerplate of the own host     BOILERPLATE, however many pages have it
    content of the own host, or     BOILERPLATE + the number of pages
    boilerplate of another host
    content of another host         OUTSIDE + the number of pages

The first link of a higher level lifts the weight of a text to that level, and from then on only links of that
level count for that text. Entries of earlier versions count all pages of the own host as content.

Within a round weights are added, because a round fetches each page once. Between rounds the greater weight is
kept, because a page that is fetched again would be counted twice. A weight never falls, and the order of the
texts depends only on their weights. So a text that was cut off can only come back with a greater weight, and
the result does not depend on the order in which entries are merged. Adding does not have this property, so
more texts are kept while weights are added (MAX_GATHERED).

Texts and weights are two tuples, the heaviest text first. Weights of 1 are left out: most anchors then take
no more bytes than their text, and the index takes the texts as they are.
"""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


MAX_ANCHORS = 16
MAX_GATHERED = 64  # while weights are added
MAX_ANCHOR_CHARS = 100
BOILERPLATE = 1  # the weight of a text that only menus and the like of the own host use
OUTSIDE = 1 << 31  # is added to the weight of a text that other hosts use


class Anchors(NamedTuple):
    """The texts in the order of the index, and the weights of the first ones; the other texts weigh 1."""

    texts: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()


def heaviest(weights: Mapping[str, int], limit: int = MAX_ANCHORS) -> Anchors:
    """Return the heaviest texts; of texts with equal weight, the first in alphabetical order."""
    if len(weights) == 1:  # a short cut: most URLs have one text, and a round calls this for every URL
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
    """Return the anchors of two sets of pages together; no page is in both sets."""
    if not other.texts:
        return one
    weights = weights_of(one)
    for text, weight in weights_of(other).items():
        weights[text] = sum_of(weights.get(text, 0), weight)
    return heaviest(weights, MAX_GATHERED)


def weight_of_link(*, is_own: bool, is_boilerplate: bool) -> int:
    """Return the weight that the link of one page gives to its text."""
    if is_own is is_boilerplate:
        return BOILERPLATE if is_own else OUTSIDE + 1
    return BOILERPLATE + 1


def sum_of(one: int, other: int) -> int:
    """Return the sum of two weights of the same text."""
    if one <= BOILERPLATE or other <= BOILERPLATE or (one < OUTSIDE) is not (other < OUTSIDE):
        return max(one, other)
    return one + other - (OUTSIDE if one >= OUTSIDE else BOILERPLATE)


def pages_of(weight: int) -> int:
    """Return how many pages a weight stands for; pages that link in boilerplate are not counted."""
    return weight - OUTSIDE if weight >= OUTSIDE else max(1, weight - BOILERPLATE)


def keep_greater(one: Anchors, other: Anchors) -> Anchors:
    """Return the anchors of two sets of pages that may overlap; `one` itself if `other` adds nothing."""
    weights = weights_of(one)
    grown = False
    for text, weight in weights_of(other).items():
        if weight > weights.get(text, 0):
            weights[text] = weight
            grown = True
    return heaviest(weights) if grown else one
