"""Machines that many hosts share: one server can have any number of host names.

A machine has a delay and a limit of connections, like each of its hosts. The first answer of a host shows its
IP address, and the address stands for the machine. Until then all hosts of a registrable domain count as one
machine. When one of these hosts has answered, the other hosts wait for the same address, because a DNS server
that knows every name below a domain mostly resolves all names to one address.
"""

from __future__ import annotations

from collections import deque
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from crawlctl.pipeline.politeness.crawl_delay import delay_between_hosts
from crawlctl.pipeline.urls.domains import domain_of

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import PolitenessSettings

_IPV6_PREFIX = 64  # the smallest network that is assigned; one owner has all its addresses


class Addressed(Protocol):
    """A host with its name and its last known IP address, which is empty if it is not known."""

    host: str
    ip: str


HostT = TypeVar("HostT", bound=Addressed)


class Machine(Generic[HostT]):
    """An address, or a domain whose hosts have no known address yet, and the hosts that wait for it in line.

    In the line of an address there may also be a domain, which stands for all its hosts.
    """

    __slots__ = ("_gap", "_most", "address", "in_flight", "line", "ready_at")

    def __init__(self, gap: float, most: int) -> None:
        self.ready_at = 0.0
        self.in_flight = 0
        self.line: deque[HostT | Machine[HostT]] = deque()
        self.address: Machine[HostT] | None = None  # for a domain: the last known address of a host
        self._gap = gap
        self._most = most

    @property
    def open(self) -> bool:
        """Whether another request may start when the delay is over."""
        return not self._most or self.in_flight < self._most

    def is_free(self, now: float) -> bool:
        """Return whether a request may start now."""
        return self.open and self.ready_at <= now

    def is_free_for_all(self, now: float) -> bool:
        """Return whether a request may start now and no host waits in line, here and at the address."""
        is_free = self.is_free(now) and not self.line
        return is_free and (self.address is None or self.address.is_free_for_all(now))

    def seconds_for(self, requests: int) -> float:
        """Return the least seconds that `requests` requests take, one after the other."""
        return self._gap * max(0, requests - 1)

    def began(self, now: float) -> None:
        """Record the start of a request."""
        self.in_flight += 1
        self.ready_at = now + self._gap

    def ended(self) -> None:
        """Record the end of a request."""
        self.in_flight -= 1


class Machines(Generic[HostT]):
    """Finds the machine of a host; there are no machines if the operator has switched the limits off."""

    def __init__(self, settings: PolitenessSettings, tasks: int) -> None:
        self._gap = delay_between_hosts(settings, tasks)
        self._most = settings.connections_per_address
        self._are_limited = bool(settings.delay and settings.connections_per_host)
        self._by_name: dict[str, Machine[HostT]] = {}

    def of(self, host: HostT) -> Machine[HostT] | None:
        """Return the machine of a host: its address if it is known, else its domain."""
        if not self._are_limited:
            return None
        domain = self._named(domain_of(host.host))
        if not host.ip:
            return domain
        address = self._named(network_of(host.ip))
        domain.address = None if address is domain else address
        return address

    def _named(self, name: str) -> Machine[HostT]:
        machine = self._by_name.get(name)
        if machine is None:
            machine = self._by_name[name] = Machine(self._gap, self._most)
        return machine


def network_of(ip: str) -> str:
    """Return an IPv4 address unchanged, and the /64 network of an IPv6 address."""
    if ":" not in ip:
        return ip
    address = ip_address(ip.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or ip_network((address, _IPV6_PREFIX), strict=False))
