"""The hosts of a partition that the crawl knows, and how many hosts and useful pages each domain has."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.scope.host_budgets import DomainCount
from crawlctl.pipeline.urls.domains import domain_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class KnownHosts:
    """Takes the hosts of a part in any order, each once; 8 bytes a host and a count a domain are kept."""

    def __init__(self) -> None:
        self.domains: dict[str, DomainCount] = {}
        self._hashes = array("q")
        self._sorted: NDArray[np.int64] | None = None
        self._last = DomainCount()

    def add(self, host: str) -> None:
        """Take the next host."""
        domain = domain_of(host)
        self._last = self.domains.get(domain) or self.domains.setdefault(domain, DomainCount())
        self._last.hosts += 1
        self._hashes.append(hash(host))
        self._sorted = None

    def useful(self, pages: int) -> None:
        """Count useful pages of the host that was added last."""
        self._last.useful += pages

    def __contains__(self, host: str) -> bool:
        if self._sorted is None:
            self._sorted = np.sort(np.frombuffer(self._hashes, np.int64))
        wanted = hash(host)
        place = int(np.searchsorted(self._sorted, wanted))
        return place < len(self._sorted) and int(self._sorted[place]) == wanted
