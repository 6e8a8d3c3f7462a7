"""Which posting lists a step needs of a segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.search.evaluate.list_reads import Want
from crawlctl.pipeline.search.plan.steps import AllOf, AnyOf, Phrase, Terms, can_match

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.search.plan.steps import Step


def wants_of(step: Step, segment: int) -> Iterator[Want]:
    """Yield the lists without which the step cannot be answered; none where no document can match."""
    if not can_match(step, segment):
        return
    if isinstance(step, Terms):
        yield from (Want(place, False) for place in step.places[segment])
    elif isinstance(step, Phrase):
        for word in step.words:
            yield from (Want(place, True) for place in word.places[segment])
    elif isinstance(step, (AllOf, AnyOf)):
        for part in step.parts:
            yield from wants_of(part, segment)
        if isinstance(step, AllOf):
            for part in step.without:
                yield from wants_of(part, segment)
