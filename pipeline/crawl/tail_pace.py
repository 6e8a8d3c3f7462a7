"""TailPace: how many seconds a round waits for slow hosts while there is other work."""

from __future__ import annotations


class TailPace:
    """The seconds that fetch tasks wait for slow hosts in the next round (fetch/loop/round_tail.py).

    They wait at least as long as all other steps of a round take; a shorter wait would save no time. The wait
    doubles after each round in which no host was finished, so that a few slow hosts do not cause many tiny
    rounds. It lives as long as a run.
    """

    def __init__(self, shortest: float) -> None:
        self.tail = shortest
        self._shortest = shortest

    def round_done(self, overhead: float, hosts_done: int) -> None:
        """Learn from a round: the seconds of its steps after fetching, and the number of finished hosts."""
        shortest = max(self._shortest, overhead)
        self.tail = shortest if hosts_done else max(2 * self.tail, shortest)
