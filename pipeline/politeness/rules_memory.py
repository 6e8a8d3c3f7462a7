"""Limits the memory that the robots.txt rules of all hosts of a task take.

Packed rules mostly take a few hundred bytes, and small rules are always kept. The rules of a large file take
up to half a megabyte, and the rules of a thousand large files would take more memory than a task has. So
large rules are kept only up to a limit. Rules beyond the limit are dropped, and nothing is fetched from their
host until its robots.txt is requested again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from crawlctl.pipeline.politeness.host_state import HostState
    from crawlctl.pipeline.robots.robots import Robots

SMALL = 8 << 10  # bytes of packed rules that are always kept


class RuleMemory:
    """Admits the rules of hosts until all large rules together take more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: dict[str, int] = {}  # URL of a robots.txt → bytes of its rules
        self.memory = 0

    def admit(self, url: str, robots: Robots) -> Robots:
        """Return the rules unchanged, or, if they do not fit, rules that close the host for now."""
        if self._fits(url, robots):
            return robots
        size = len(robots.packed) >> 10
        note = (
            f"the rules of robots.txt take {size} KB, but the rules of other hosts fill the memory for rules "
            "(a share of round.task_memory); nothing is fetched from the host until it is asked again"
        )
        return replace(robots, rules=b"", note=note, try_later=True)

    def admit_host(self, host: str, state: HostState) -> HostState:
        """Return the state of a host; if its rules do not fit, robots.txt will be requested again."""
        if all(len(known.robots.packed) <= SMALL for known in state.robots.values()):
            return state
        robots = {
            scheme: known
            if self._fits(f"{scheme}://{host}/robots.txt", known.robots)
            else replace(known, robots=replace(known.robots, rules=b""), read_at=0.0)
            for scheme, known in state.robots.items()
        }
        return replace(state, robots=robots)

    def _fits(self, url: str, robots: Robots) -> bool:
        size = len(robots.packed)
        counted = size if size > SMALL else 0
        total = self.memory + counted - self._held.get(url, 0)
        if counted and total > self._limit:
            return False
        self._held[url], self.memory = counted, total
        return True
