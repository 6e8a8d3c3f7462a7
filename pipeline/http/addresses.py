"""Which IP addresses may be dialled: the public internet, and networks the operator allowed.

A page can link to `http://169.254.169.254/`, redirect to it, or own a host name that resolves to it after the
name was checked. So URLs are not judged; each address is judged when it is dialled, after all redirects and
DNS look-ups (dialler.py). Behind a proxy only the proxy is dialled. Then the addresses written in URLs can be
judged, but not the address to which a name resolves.

The tables come from IANA, not from `ipaddress.is_global`, because its answer depends on the Python version.
https://www.iana.org/assignments/iana-ipv4-special-registry/
https://www.iana.org/assignments/iana-ipv6-special-registry/
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORBIDDEN_V4 = tuple(
    (IPv4Network(network), what)
    for network, what in (
        ("0.0.0.0/8", "this host"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier"),
        ("127.0.0.0/8", "loopback"),
        (
            "168.63.129.16/32",
            "metadata of a cloud",
        ),  # Azure's, which has a public address
        ("169.254.0.0/16", "link-local, where clouds keep their metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
# IANA assigns public IPv6 addresses only from this block. Loopback, link-local, unique local (the metadata
# services of AWS and Google among them) and multicast addresses lie outside of it.
_PUBLIC_V6 = IPv6Network("2000::/3")
_FORBIDDEN_V6 = tuple(
    (IPv6Network(network), what)
    for network, what in (
        ("2001::/23", "reserved for protocols, Teredo among them"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("3fff::/20", "documentation"),
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")
_LOW_32_BITS = 0xFFFF_FFFF


class AddressGuard:
    """Decides which addresses may be dialled; all in the networks `allowed` may (fetch.allowed_networks)."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._allowed = tuple(_network(text) for text in allowed)
        # A task dials the same few thousand servers again and again.
        self._verdict = lru_cache(maxsize=4096)(self._judge)

    def refusal(self, address: str, host: str = "") -> str | None:
        """Return why an IP address of a host may not be dialled, and what to type, or None if it may."""
        fault = self._verdict(address)
        if fault is None:
            return None
        return (
            f"{fault}; to crawl it, add it to fetch.allowed_networks, then type "
            f"`crawlctl refresh {host or address}`"
        )

    def _judge(self, address: str) -> str | None:
        try:
            # A zone (fe80::1%eth0) names our network card, not the other side.
            plain = unwrap(ip_address(address.partition("%")[0]))
        except ValueError:
            return f"{address} is no address"
        if any(plain in network for network in self._allowed):
            return None
        if (purpose := forbidden(plain)) is None:
            return None
        return f"{address} is not public ({purpose})"

    def refusal_of_url(self, url: str) -> str | None:
        """Return why a URL is refused whose host is an IP address, else None; used behind a proxy."""
        host = host_of(url)
        name = host[1 : host.index("]")] if host.startswith("[") else host.partition(":")[0]
        if name == "localhost" or name.endswith(".localhost"):
            name = "127.0.0.1"  # RFC 6761 §6.3: these names always mean loopback
        # In a canonical URL a host whose last label is a number is an IPv4 address (URL standard).
        is_address = ":" in name or name.rpartition(".")[2].isdigit()
        return self.refusal(name, host) if is_address else None


def forbidden(address: IPv4Address | IPv6Address) -> str | None:
    """Return what an address is reserved for, None if it is public."""
    if isinstance(address, IPv4Address):
        return next((what for network, what in _FORBIDDEN_V4 if address in network), None)
    if address not in _PUBLIC_V6:
        return "private, link-local or reserved IPv6"
    return next((what for network, what in _FORBIDDEN_V6 if address in network), None)


def unwrap(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address inside an IPv4-mapped or NAT64 address; return other addresses unchanged.

    6to4 and Teredo addresses hold IPv4 addresses too, but these networks are out of use and are refused.
    """
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & _LOW_32_BITS)
    return address


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text, strict=False)
    except ValueError as err:
        raise ConfigError(
            f"fetch.allowed_networks: {text!r} is no network; write it as 10.0.0.0/8 or fd00::/8"
        ) from err
