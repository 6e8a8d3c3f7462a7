"""The known hosts of a partition, and the number of hosts and useful pages of each domain."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.scope.host_budgets import DomainCount
from crawlctl.pipeline.urls.domains import domain_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class KnownHosts:
    """The hosts of a partition, 8 bytes per host, with two counters per domain; filled once per task."""

    def __init__(self) -> None:
        self.domains: dict[str, DomainCount] = {}
        self._hashes = array("q")
        self._sorted: NDArray[np.int64] | None = None
        self._last = DomainCount()

    def add(self, host: str) -> None:
        """Add a host; each host is added once, in any order."""
        domain = domain_of(host)
        self._last = self.domains.get(domain) or self.domains.setdefault(domain, DomainCount())
        self._last.hosts += 1
        self._hashes.append(hash(host))
        self._sorted = None

    def useful(self, pages: int) -> None:
        """Add to the useful pages of the host that was added last."""
        self._last.useful += pages

    def __contains__(self, host: str) -> bool:
        if self._sorted is None:
            self._sorted = np.sort(np.frombuffer(self._hashes, np.int64))
        wanted = hash(host)
        index = int(np.searchsorted(self._sorted, wanted))
        return index < len(self._sorted) and int(self._sorted[index]) == wanted
