"""The settings of the index: when it is merged, how, and what a word in a field counts."""

from __future__ import annotations

from typing import Annotated

import msgspec

from crawlctl.pipeline.config.section import AtLeastOne, Count, Section
from crawlctl.pipeline.config.units import Size

Weight = Annotated[float, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]


class FieldWeights(Section, frozen=True):
    """What an occurrence in a field counts."""

    body: Weight = 1.0
    heading: Weight = 1.0  # headings stand in the body too
    title: Weight = 3.0
    url: Weight = 1.0
    anchor: Weight = 2.0


class IndexSettings(Section, frozen=True):
    """How the runs of rounds become segments."""

    merge_every: AtLeastOne = 1  # rounds; what was fetched since is found after the next merge
    memory: Size = Size(512 << 20)  # of one merge task, beyond the interpreter
    # A segment is merged with newer ones once it has at most this many times their documents: a larger ratio
    # leaves fewer segments to search and writes documents more often.
    tier_ratio: Annotated[float, msgspec.Meta(ge=1.5)] = 2.0
    max_stale: Share = 0.2  # of the documents of a segment that are dead or linked anew; then it is rewritten
    max_drift: Share = 0.1  # of average lengths since the segment was written; then it is rewritten
    frontier: Count = 100_000  # pages not fetched yet that can be found by their anchors, in the whole crawl
    # Of BM25F: how soon further occurrences count less, and how much the length of a field matters.
    k1: Annotated[float, msgspec.Meta(gt=0)] = 1.2
    b: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.75
    weights: FieldWeights = FieldWeights()
