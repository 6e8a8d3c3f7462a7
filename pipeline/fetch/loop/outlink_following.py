"""Decides when a round fetches URLs that it has found itself, and gives them to hosts that have no due URL.

Due URLs always come first: a host gets other URLs (outlinks.py) only when it has none that is due. So a host
does not stand idle while the due URLs of other hosts are fetched.

A round follows only if its due URLs take a while. A short round is over sooner than an answer would come, and
rounds of a small crawl stay the levels of links that `--iterations` counts. In such a run following does not
make a round longer either: it stops when the due URLs are nearly done, and while pages pile up before the
parser, because then the round waits for cores and not for hosts. Hosts that fail are not waited for. If the
order allows it (`may_lengthen`), following goes on until the time of the round is over, since a run until no
page is due needs fewer rounds then.

Nothing is remembered of it: what was followed is saved like any other page, and URLs whose turn did not come
are new URLs of the next round.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawlctl.pipeline.urls.hosts import partition_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawlctl.pipeline.fetch.loop.outlinks import Outlinks
    from crawlctl.pipeline.fetch.loop.planned_urls import PlannedUrls
    from crawlctl.pipeline.fetch.order import FetchOrder
    from crawlctl.pipeline.politeness.polite_queue import PoliteQueue, Rest

_WHILE = 5.0  # seconds that the due URLs must take for a round to follow
_MOST_TO_PARSE = 16  # pages that wait for the parser while a round follows
_LOOK = 0.2  # seconds between two looks at the hosts
_REST = 20  # looking takes at most 1/20 of the time of the task


class Following:
    """Follows found URLs in one task; without `outlinks` it does nothing."""

    def __init__(
        self, outlinks: Outlinks | None, planned: PlannedUrls, queue: PoliteQueue, order: FetchOrder
    ) -> None:
        self._outlinks = outlinks
        self._planned = planned
        self._queue = queue
        self._order = order
        self._is_long = False  # whether the due URLs of the round took a while
        self._next_look = 0.0

    @property
    def _lengthens(self) -> bool:
        """Whether what was followed counts as the work of the round, and not only as its pastime."""
        return self._outlinks is not None and self._order.may_lengthen and self._is_long

    def tend(self, now: float, to_parse: int = 0) -> None:
        """Give URLs to hosts that have none, or take them back; call it often.

        `now` is as for the queue; `to_parse` is how many pages wait for the parser.
        """
        started = time.monotonic()
        if self._outlinks is None or started < self._next_look:
            return
        if self._may_follow(now, to_parse):
            self._feed(self._outlinks, now)
        else:
            self.withdraw()
        self._next_look = time.monotonic() + max(_LOOK, _REST * (time.monotonic() - started))

    def goes_on(self, now: float) -> bool:
        """Return whether a task that has nothing else left goes on with URLs that it has found."""
        return self._lengthens and self._outlinks is not None and self._feed(self._outlinks, now)

    def withdraw(self) -> None:
        """Take back all URLs that were not requested."""
        if self._outlinks is not None:
            self._outlinks.give_back(self._planned.withdraw())

    def rest(self, now: float) -> Rest:
        """Return what the round has left to do."""
        if self._outlinks is None or self._lengthens:
            return self._queue.rest(now)
        return self._queue.rest(now, self._planned.has_due)

    def has_found_work(self, new_hosts: Collection[bytes], waiting: Collection[str]) -> bool:
        """Return whether the next round has new URLs of hosts that would stand idle until then.

        `waiting` are the hosts that this round waits for. A round that goes on for what it follows leaves new
        URLs of another partition to the task of that partition, which is at work too. But if any partition
        has no task in this round, its hosts stand idle. So do hosts for which a limit of
        pages leaves no room.
        """
        return any(self._stands_idle(host) for host in new_hosts if host.decode("ascii") not in waiting)

    def _stands_idle(self, host: bytes) -> bool:
        order, outlinks = self._order, self._outlinks
        if outlinks is None or not self._lengthens:
            return True
        if partition_of(host.decode("ascii"), order.partitions) != order.partition:
            return order.tasks < order.partitions
        return self._planned.is_full or outlinks.only_has_others(host)

    def _may_follow(self, now: float, to_parse: int) -> bool:
        if self._lengthens:
            return True
        hosts = (host for host in self._queue.busy_hosts() if self._planned.has_due(host))
        takes_long = any(not host.is_failing and host.seconds_left(now) > _WHILE for host in hosts)
        self._is_long = self._is_long or takes_long
        return takes_long and to_parse <= _MOST_TO_PARSE

    def _feed(self, outlinks: Outlinks, now: float) -> bool:
        """Give each host that has no URL the next ones it has in `outlinks`; return whether there are any."""
        has_fed = False
        for host, keys in outlinks.hosts.items():
            if self._planned.is_full:
                break
            if keys and self._queue.needs_urls(host.decode("ascii")):
                best = outlinks.best(host, int(now))
                outlinks.give_back(self._planned.follow(best))
                has_fed = has_fed or bool(best)
        return has_fed
