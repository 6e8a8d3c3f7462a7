"""Most words: pages that lack one word of a query, and have all the others in titles and headings.

People name things by other words than the page does: `c++ smart pointers` is answered by a page that never
says `c++`. Such a page is a partial match. Its score is reduced for the word that it lacks. If the score is
then still higher than that of a page that has all words somewhere, the partial match comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.search.plan.proximity import HEADING, TITLE
from crawlctl.pipeline.search.plan.steps import MostOf

if TYPE_CHECKING:
    from crawlctl.pipeline.search.plan.proximity import Proximity

LEAST_WORDS = 3  # the fewest words of a query; in a query of two words, the remaining word says too little
# the most words of a query; for longer queries most pages lack several words, and scores alone decide
MOST_WORDS = 6
# What remains of the score of a page that lacks a word: 0.8, chosen on the first half of the judged queries.
# From 0.9 on, section titles are found less often, and with 0.6 fewer natural queries are answered.
REMAINING = 4, 5

_NAMING = 1 << TITLE | 1 << HEADING


def most_words(proximity: Proximity | None) -> MostOf | None:
    """Return the step that finds pages whose titles and headings have all words of a plain query but one."""
    words = {word.text: word for word in proximity.words} if proximity is not None else {}
    if not LEAST_WORDS <= len(words) <= MOST_WORDS:
        return None
    return MostOf(tuple(msgspec.structs.replace(word, mask=_NAMING, weight=0) for word in words.values()))


def remaining(score: int) -> int:
    """Return what remains of the score of a page that lacks a word."""
    kept, of = REMAINING
    return score * kept // of
