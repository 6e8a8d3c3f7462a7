"""The settings of ranking."""

from __future__ import annotations

from typing import Annotated

import msgspec

from crawlctl.pipeline.config.section import Count, Section
from crawlctl.pipeline.config.units import Size

MOST_DAMPING = 0.99
LEAST_TOLERANCE = 1e-12  # what numbers of 64 bits can tell apart, added up over a web


class RankSettings(Section, frozen=True):
    """How pages are ranked by the links between them, and how often."""

    every: Count | None = 0  # rounds; 0: at the end of each run; null: only by `crawlctl rank`
    damping: Annotated[float, msgspec.Meta(ge=0, le=MOST_DAMPING)] = 0.85
    tolerance: Annotated[float, msgspec.Meta(ge=LEAST_TOLERANCE, le=1)] = 1e-6  # of all ranks added up
    teleport: str = "uniform"  # seed, or a file of URLs: ranks from the point of view of those pages
    memory: Size = Size(1 << 30)  # of one task; a graph that needs more is solved in several, round by round
