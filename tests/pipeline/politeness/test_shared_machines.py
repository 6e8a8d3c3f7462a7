from __future__ import annotations

import pytest

from crawlctl.pipeline.politeness.shared_machines import network_of


@pytest.mark.parametrize(
    ("ip", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::1", "::/64"),
    ],
)
def test_an_owner_of_ipv6_addresses_has_all_of_their_network(ip: str, network: str) -> None:
    assert network_of(ip) == network
