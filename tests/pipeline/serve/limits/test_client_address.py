"""Who is limited, and whose word about clients is believed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.serve.limits.client_address import checked_proxies, limited_client

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("127.0.0.1", ""),
        ("::1", ""),
        ("::ffff:127.0.0.1", ""),
        ("unknown" * 100, ("unknown" * 100)[:64]),
    ],
)
def test_a_client_is_an_address_or_a_site_of_ipv6(address: str, client: str) -> None:
    assert limited_client({"client": (address, 1234)}) == client


def test_a_request_without_an_address_is_not_limited() -> None:
    assert limited_client({"client": None}) == ""


@pytest.mark.parametrize(
    ("peer", "client"),
    [
        ("127.0.0.1", "192.0.2.9"),
        ("10.1.2.3", "192.0.2.9"),
        ("203.0.113.5", "203.0.113.5"),
    ],
)
def test_only_trusted_proxies_name_clients(peer: str, client: str) -> None:
    seen = list[str]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(limited_client(scope))

    header = (b"x-forwarded-for", b"198.51.100.1, 192.0.2.9, 10.0.0.1")  # the first is what the client wrote
    scope = {"type": "http", "client": (peer, 1), "headers": [header]}
    trusting = ProxyHeadersMiddleware(app, list(checked_proxies(["10.0.0.0/8"])))  # type: ignore[arg-type]
    asyncio.run(trusting(scope, None, None))  # type: ignore[arg-type]
    assert seen == [client]


@pytest.mark.parametrize("proxy", ["proxy.example", "10.0.0.1/8", "*", ""])
def test_a_proxy_is_named_by_address(proxy: str) -> None:
    with pytest.raises(ConfigError, match="no address or network of a proxy; give --trust-proxy"):
        checked_proxies([proxy])
