"""Plan: the steps of a query, the scale of their scores, and how the best documents are scored again."""

from __future__ import annotations

import msgspec

from crawlctl.pipeline.index.fields import MAX_IMPACT
from crawlctl.pipeline.search.plan.proximity import Proximity
from crawlctl.pipeline.search.plan.steps import AllOf, MostOf, Step
from crawlctl.pipeline.search.rules.search_rules import Boosts


class Plan(msgspec.Struct, frozen=True, eq=False):
    """The steps of a query, and the scale of their scores."""

    step: Step
    loose: Step | None  # for a plain query: documents that match any of its words
    scale: int  # a score of 1 in BM25 is scale × 255 here
    prior_weight: int  # what a prior of 1 adds to the score
    notices: tuple[str, ...] = ()  # messages: how the planner changed the query because of what the index has
    proximity: Proximity | None = None  # how the best documents are scored again
    names: tuple[str, ...] = ()  # the keys of the names in the query that some page defines
    synonyms: tuple[tuple[str, ...], ...] = ()  # synonyms that are searched for too
    pins: tuple[int, ...] = ()  # documents that come first; they match the step
    blocked: tuple[tuple[int, int], ...] = ()  # documents [start, end) that are not shown
    boosts: Boosts = Boosts(())  # factors that scores are multiplied by
    most: MostOf | None = None  # for a plain query: documents that lack one of its words

    @property
    def lacking_one(self) -> Step | None:
        """The documents that lack one word of a plain query, scored by the words they have."""
        if self.most is None or self.loose is None:
            return None
        return AllOf((self.most, self.loose), (self.step,))

    def as_float(self, score: int) -> float:
        """Return a score in the scale of BM25."""
        return score / (self.scale * MAX_IMPACT)
