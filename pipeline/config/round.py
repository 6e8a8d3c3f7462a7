"""The settings of a round: how much is fetched in one, and how often a task saves what it has."""

from __future__ import annotations

from crawlctl.pipeline.config.section import AtLeastOne, Section
from crawlctl.pipeline.config.units import HOUR, Duration, Size


class RoundSettings(Section, frozen=True):
    """The budget of a round over all partitions, and the memory and the runs of a fetch task."""

    max_pages: AtLeastOne = 100_000  # what is due beyond that waits for the next round
    max_bytes: Size = Size(10 << 30)  # received, as they came over the wire
    max_time: Duration = Duration(HOUR)  # for fetching; then pages under way are given up and stay due
    # A round that only waits for a few slow hosts ends after this long if the run has another round to come
    # and others have work for it.
    tail: Duration = Duration(15)
    task_memory: Size = Size(512 << 20)  # of one fetch task
    # A task saves what it has as a run after so many pages, or so long: a kill loses no more than that.
    flush_pages: AtLeastOne = 20_000
    flush_time: Duration = Duration(60)
