"""RoundPace: for how many seconds a round fetches, and how many seconds it waits for slow hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.config.settings import CLUSTER_RUNNERS
from crawlctl.pipeline.config.units import HOUR, MINUTE

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import RoundSettings

# the fetch time of a new crawl's first round, short so that it can soon be searched; each round doubles it
FIRST = float(MINUTE)
USUAL = 5.0 * MINUTE
LONGEST = float(HOUR)
# Merging may take this share of a round. In a large crawl it takes minutes, so rounds become longer.
_OVERHEAD_SHARE = 1 / 10


class RoundPace:
    """The times of the next round; it learns from each round and lives as long as a run.

    `tail_wait` is how many seconds fetch tasks wait for slow hosts before the round may end
    (fetch/loop/round_tail.py). It is at least the setting `round.tail`, and at least the time that the steps
    after fetching took in the last round: each round has these steps, so to wait less would save nothing. It
    doubles after each round in which no host was finished, so that a few slow hosts do not cause many tiny
    rounds.
    """

    def __init__(self, settings: RoundSettings, runner: str) -> None:
        self.tail_wait = self._shortest = float(settings.tail)
        self._max_time = settings.max_time
        self._is_cluster = runner in CLUSTER_RUNNERS
        self._overhead = 0.0

    @property
    def longest_wait(self) -> float:
        """The seconds that a run waits for hosts which may not be asked yet: as long as its longest round."""
        return self.fetch_time(0, is_last=True)

    def fetch_time(self, rounds: int, *, is_last: bool) -> float:
        """Return how many seconds the next round may fetch, in a crawl that has had `rounds` rounds.

        The last round of a run is not shortened, because no round follows in which slow hosts could be
        fetched.
        """
        if self._max_time is not None:
            return float(self._max_time)
        if self._is_cluster:
            return LONGEST
        usual = USUAL if is_last else min(USUAL, FIRST * 2 ** min(rounds, 10))
        return min(LONGEST, max(usual, self._overhead / _OVERHEAD_SHARE))

    def round_done(self, overhead: float, hosts_done: int) -> None:
        """Learn from a round: the seconds that its steps after fetching took, and how many hosts finished."""
        self._overhead = overhead
        shortest = max(self._shortest, overhead)
        self.tail_wait = shortest if hosts_done else max(2 * self.tail_wait, shortest)
