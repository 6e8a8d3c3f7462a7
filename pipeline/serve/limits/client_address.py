"""Which client has sent a request, so that it can be limited.

If a request comes from a proxy that the operator trusts (`--trust-proxy`), uvicorn takes the client's address
from X-Forwarded-For.
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Scope

THIS_MACHINE = ("127.0.0.1", "::1")
# the bits of an IPv6 address that name a client: a customer has at least all addresses with these first
# bits
_SITE_BITS = 64
_MAX_NAME = 64


def limited_client(scope: Scope) -> str:
    """Return the name under which the requests of a client are counted; empty if it is not limited.

    Requests from this machine are not limited: they come from the operator, or from a proxy that does not
    name its client.
    """
    name = str((scope.get("client") or ("", 0))[0])[:_MAX_NAME]
    try:
        address = ip_address(name)
    except ValueError:  # a proxy may have written something that is not an address
        return name
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    if address.is_loopback:
        return ""
    if isinstance(address, IPv6Address):
        return str(ip_network((int(address), _SITE_BITS), strict=False))
    return str(address)


def checked_proxies(proxies: Iterable[str]) -> tuple[str, ...]:
    """Return the addresses and networks of proxies and of this machine; raise if a text is neither."""
    given = tuple(proxies)
    for proxy in given:
        try:
            ip_network(proxy)
        except ValueError as err:
            raise ConfigError(
                f"{proxy} is no address or network of a proxy; give --trust-proxy 192.0.2.1 or 10.0.0.0/8"
            ) from err
    return (*THIS_MACHINE, *given)
