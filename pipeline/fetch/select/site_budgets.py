"""Applies the budgets of URLs and hosts to the new links of a task.

The budgets of a host hold over all rounds. So the known URLs of a host must be counted first, by the extract
of the part or by its rows. If they were counted for all hosts, the time of each round would grow with the
whole WebDB. But a host with fewer than a thousand URLs cannot exceed a budget. So only larger hosts are
counted, when the first new link to them is found. The hosts of a domain are counted while the selection reads
the part (known_hosts.py), or by its extract.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.select.known_hosts import KnownHosts
from crawlctl.pipeline.scope.host_budgets import HostBudgets
from crawlctl.pipeline.scope.url_budgets import UrlBudgets
from crawlctl.pipeline.urls.hosts import host_of, partition_of, url_of_key
from crawlctl.pipeline.webdb.extract.folder_counts import SEGMENTS
from crawlctl.pipeline.webdb.packed import STATUS
from crawlctl.pipeline.webdb.records import LIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from crawlctl.pipeline.config.settings import BudgetSettings
    from crawlctl.pipeline.scope.scope import Exclusion
    from crawlctl.pipeline.webdb.extract.part_extract import PartExtract
    from crawlctl.pipeline.webdb.part import PartRows


def smallest_budget(settings: BudgetSettings) -> int:
    """Return the number of URLs below which a host cannot have used up any of its budgets."""
    return min(settings.urls_per_host, settings.urls_per_prefix, settings.urls_per_parameter_set)


class SiteBudgets:
    """Admits new URLs within the budgets, and counts useful pages; lives as long as a task."""

    def __init__(
        self,
        settings: BudgetSettings,
        rows: PartRows,
        large_hosts: Collection[str],
        hosts: KnownHosts | None = None,
        *,
        partition: int = 0,
        partitions: int = 1,
        is_of_a_seed: Callable[[str], bool] = lambda _host: False,
        extract: PartExtract | None = None,
    ) -> None:
        known = KnownHosts() if hosts is None else hosts
        # Of the hosts of other partitions a task knows only the seed hosts. A site cannot invent seed hosts.
        self._domains = HostBudgets(
            settings,
            partitions,
            known.domains,
            is_known=lambda host: is_of_a_seed(host) or host in known,
            is_own=lambda host: partition_of(host, partitions) == partition,
        )
        self._budgets = UrlBudgets(settings)
        self._rows = rows
        self._extract = extract if settings.prefix_segments <= SEGMENTS else None
        self._to_load = set(large_hosts)
        self._loaded: set[str] = set()

    def admit(self, url: str) -> Exclusion | None:
        """Count a new URL and return None, or return the budget that is used up."""
        host = host_of(url)
        self._load(host)
        return self._domains.admit(host) or self._budgets.admit(url)

    def has_room(self, url: str) -> bool:
        """Return whether a new URL is on a known host whose budgets are at most half used up."""
        host = host_of(url)
        self._load(host)
        return not self._domains.is_new(host) and self._budgets.has_room(url)

    def useful(self, url: str) -> None:
        """Record that a URL of this partition gave a useful page for the first time."""
        host = host_of(url)
        self._load(host)
        self._domains.useful(host)
        if host not in self._loaded:
            self._budgets.count(url)
        self._budgets.useful(url)

    def _load(self, host: str) -> None:
        if host not in self._to_load:
            return
        self._to_load.remove(host)
        self._loaded.add(host)
        if self._extract is not None:
            self._load_counts(host, self._extract)
            return
        for key, value in self._rows.of_host(host):
            url = url_of_key(key)
            self._budgets.count(url)
            if value[STATUS] in LIVE:
                self._budgets.useful(url)

    def _load_counts(self, host: str, extract: PartExtract) -> None:
        name = host.encode("ascii")
        with self._rows.own_work():
            folders, of_host = extract.folders_of(name), extract.host(name)
        groups = ((folder, urls, live) for folder, (urls, live) in folders.items())
        self._budgets.load(host, of_host.urls, of_host.live, groups)
