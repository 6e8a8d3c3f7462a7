"""Limits the number of hosts per domain; useful pages earn a domain more hosts.

A DNS server that answers every name below a domain creates as many hosts as there are links. So a domain
starts with a fixed number of hosts, and its useful pages earn more:

    hosts of a domain ≤ hosts_per_domain + useful pages of the domain ÷ pages_per_new_host

A task knows the hosts of its own partition and the hosts it has found itself. Hosts are spread evenly over
the partitions. So each task starts with its share of `hosts_per_domain`, and earns more with the pages of its
own hosts. A task cannot know which hosts of other partitions the crawl knows already. So it takes up to
`hosts_per_domain` hosts of other partitions per round; otherwise links to known hosts could be lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.scope.scope import Exclusion
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.urls.domains import domain_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.config.settings import BudgetSettings


class DomainCount:
    """The counters of one domain: hosts of this partition, hosts of other partitions, useful pages."""

    __slots__ = ("elsewhere", "hosts", "useful")

    def __init__(self) -> None:
        self.hosts = 0
        self.elsewhere = 0
        self.useful = 0


class HostBudgets:
    """Admits new hosts until their domain has used up its budget; lives as long as a task."""

    def __init__(
        self,
        settings: BudgetSettings,
        partitions: int = 1,
        domains: dict[str, DomainCount] | None = None,
        is_known: Callable[[str], bool] = lambda _host: False,
        is_own: Callable[[str], bool] = lambda _host: True,
    ) -> None:
        self._start = -(-settings.hosts_per_domain // partitions)
        self._start_elsewhere = settings.hosts_per_domain
        self._pages = settings.pages_per_new_host
        self._domains = {} if domains is None else domains
        self._is_known = is_known
        self._is_own = is_own
        self._admitted: set[str] = set()

    def admit(self, host: str) -> Exclusion | None:
        """Count a host and return None, or return the budget that is used up."""
        if not self.is_new(host):
            return None
        domain = domain_of(host)
        count = self._domains.setdefault(domain, DomainCount())
        earned = count.useful // self._pages
        if self._is_own(host) and count.hosts < self._start + earned:
            count.hosts += 1
        elif not self._is_own(host) and count.elsewhere < self._start_elsewhere + earned:
            count.elsewhere += 1
        else:
            hosts, pages = counted(count.hosts, "host"), counted(count.useful, "useful page")
            return Exclusion(
                "budgets.hosts_per_domain", f"{domain} has {hosts} and {pages} in this partition"
            )
        self._admitted.add(host)
        return None

    def is_new(self, host: str) -> bool:
        """Return whether neither the crawl nor this task knows the host yet."""
        return host not in self._admitted and not self._is_known(host)

    def useful(self, host: str) -> None:
        """Record that a host gave a useful page."""
        self._domains.setdefault(domain_of(host), DomainCount()).useful += 1
