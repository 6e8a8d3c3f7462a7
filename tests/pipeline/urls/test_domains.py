from __future__ import annotations

import pytest

from crawlctl.pipeline.politeness.shared_machines import network_of
from crawlctl.pipeline.urls.domains import domain_of


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.org", "example.org"),
        ("a.b.example.org:8080", "example.org"),
        ("news.bbc.co.uk", "bbc.co.uk"),
        ("alice.github.io", "alice.github.io"),
        ("x.alice.github.io", "alice.github.io"),
        ("github.io", "github.io"),
        ("xn--bcher-kva.example.xn--p1ai", "example.xn--p1ai"),
        ("a.localhost", "localhost"),
        ("a.b.localhost:8000", "localhost"),
        ("wiki.corp", "corp"),
        ("wiki", "wiki"),
        ("192.0.2.1:81", "192.0.2.1"),
        ("[2001:db8::1]:81", "[2001:db8::1]"),
    ],
)
def test_hosts_are_counted_under_the_domain_of_their_owner(host: str, domain: str) -> None:
    assert domain_of(host) == domain


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
