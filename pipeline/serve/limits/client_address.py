"""Which client has sent a request, so that it can be limited.

uvicorn reads X-Forwarded-For of the proxies that the operator trusts (`--trust-proxy`), so that the address
is that of the client and not of the proxy.
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Scope

THIS_MACHINE = ("127.0.0.1", "::1")
_SITE_BITS = 64  # of an address of IPv6: a customer has at least all addresses that begin with them
_MAX_NAME = 64


def limited_client(scope: Scope) -> str:
    """Return the name under which the requests of a client are counted; empty if it is not limited.

    This machine is not limited: its requests are those of the operator, or of a proxy that does not say for
    whom it asks.
    """
    name = str((scope.get("client") or ("", 0))[0])[:_MAX_NAME]
    try:
        address = ip_address(name)
    except ValueError:  # a proxy may write what it likes
        return name
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    if address.is_loopback:
        return ""
    if isinstance(address, IPv6Address):
        return str(ip_network((int(address), _SITE_BITS), strict=False))
    return str(address)


def checked_proxies(proxies: Iterable[str]) -> tuple[str, ...]:
    """Return addresses and networks of proxies, and those of this machine; raise if there is another word."""
    given = tuple(proxies)
    for proxy in given:
        try:
            ip_network(proxy)
        except ValueError as err:
            raise ConfigError(
                f"{proxy} is no address or network of a proxy; give --trust-proxy 192.0.2.1 or 10.0.0.0/8"
            ) from err
    return (*THIS_MACHINE, *given)
