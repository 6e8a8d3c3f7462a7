"""Saves the run of a task, each time with the states of the hosts that changed since the last save."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.politeness.host_queue import ROUND_ENDED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.fetch.heartbeat import Heartbeat
    from crawlctl.pipeline.fetch.pages.sitemap_queue import SitemapQueue
    from crawlctl.pipeline.fetch.save.run_buffer import RunBuffer
    from crawlctl.pipeline.politeness.host_state import HostState
    from crawlctl.pipeline.politeness.polite_queue import PoliteQueue


class RunSaver:
    """Knows which hosts were asked since the last save, and saves their states with the run."""

    def __init__(
        self, run: RunBuffer, queue: PoliteQueue, sitemaps: SitemapQueue, heartbeat: Heartbeat
    ) -> None:
        self._run = run
        self._queue = queue
        self._sitemaps = sitemaps
        self._heartbeat = heartbeat
        self._asked: set[str] = set()

    def mark(self, host: str) -> None:
        """Record that a host has answered or failed to answer."""
        self._asked.add(host)

    def save_if_full(self) -> None:
        """Save the run if it is full or its time has come."""
        if self._run.is_full:
            self.save()

    def save(self) -> None:
        """Save the run with the states of the hosts that changed."""
        self._save_with(self._queue.states(self._changed()))

    def save_early(self) -> None:
        """Save the run at the end of a round, before the last pages are parsed.

        `save_last` writes the states of the hosts again, because more is known about the hosts then.
        """
        changed = self._changed()
        self.save()
        self._asked |= changed

    def save_last(self, now: float) -> None:
        """Save the run when the round is over, with the number of URLs left over per host."""
        changed = self._changed()
        states = dict(self._queue.states_at_the_end(changed))
        self._run.count("left", sum(state.left for state in states.values()))
        self._run.count("hosts_done", self._queue.hosts_done())
        self._save_with(
            (host, state) for host, state in states.items() if host in changed or is_worth_saving(state, now)
        )

    def _changed(self) -> set[str]:
        """Return the hosts that were asked, or whose sitemaps or pages were read, since the last save."""
        return self._asked | self._sitemaps.changed_hosts | self._run.host_pages.keys()

    def _save_with(self, states: Iterable[tuple[str, HostState]]) -> None:
        with self._heartbeat.own_work():
            self._run.save((host, self._sitemaps.remembered(host, state)) for host, state in states)
        self._asked.clear()
        self._sitemaps.changed_hosts.clear()


def is_worth_saving(state: HostState, now: float) -> bool:
    """Return whether URLs of a host that was not asked in this round wait because of the host itself."""
    return state.left > 0 and (state.not_before > now or state.left_reason != ROUND_ENDED)
