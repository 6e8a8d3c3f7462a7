"""How many hosts of a domain are taken up, by what its pages proved to be worth.

A name server that knows every name below a domain makes as many hosts as there are links to them. So a domain
has a number of hosts to begin with, and its useful pages earn it more:

    hosts of a domain ≤ hosts_per_domain + useful pages of the domain ÷ pages_per_new_host

A task knows the hosts of its own partition and those it has found itself. Hosts are spread over partitions by
chance, so each task begins with its part of `hosts_per_domain` and earns by the pages of its own hosts. Which
hosts of other partitions the crawl knows already it cannot tell. So of those it takes up a whole number of
`hosts_per_domain` in a round: links to hosts that are known must not be lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.scope.scope import Exclusion
from crawlctl.pipeline.urls.domains import domain_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.config.settings import BudgetSettings


class DomainCount:
    """Hosts taken up, of this partition and elsewhere, and pages that were useful, of one domain."""

    __slots__ = ("elsewhere", "hosts", "useful")

    def __init__(self) -> None:
        self.hosts = 0
        self.elsewhere = 0
        self.useful = 0


class HostBudgets:
    """Says when a domain has had its share of hosts."""

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
        """Take up a host, or return the budget that is used up; then it is not counted."""
        if host in self._admitted or self._is_known(host):
            return None
        domain = domain_of(host)
        count = self._domains.setdefault(domain, DomainCount())
        earned = count.useful // self._pages
        if self._is_own(host) and count.hosts < self._start + earned:
            count.hosts += 1
        elif not self._is_own(host) and count.elsewhere < self._start_elsewhere + earned:
            count.elsewhere += 1
        else:
            why = f"{domain} has {count.hosts} hosts and {count.useful} useful pages in this partition"
            return Exclusion("budgets.hosts_per_domain", why)
        self._admitted.add(host)
        return None

    def useful(self, host: str) -> None:
        """Say that a host gave a page worth indexing."""
        self._domains.setdefault(domain_of(host), DomainCount()).useful += 1
