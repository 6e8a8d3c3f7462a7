from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.http.addresses import AddressGuard, forbidden, unwrap

FORBIDDEN = (
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",  # metadata of Alibaba
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",  # metadata of Azure
    "169.254.169.254",  # metadata of nearly all others
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",  # metadata of Oracle
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::8.8.8.8",
    "100::1",
    "2001::1",  # Teredo
    "2001:0:7f00:1::",
    "2001:2::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",  # metadata of AWS
    "fd20:ce::254",  # metadata of Google
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
)
PUBLIC = (
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "168.63.129.15",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2001:200::1",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "3ffe::1",
)


@pytest.mark.parametrize("address", FORBIDDEN)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    refusal = AddressGuard().refusal(address)
    assert refusal is not None
    assert "fetch.allowed_networks" in refusal


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_may_be_dialled(address: str) -> None:
    assert AddressGuard().refusal(address) is None


@pytest.mark.parametrize("text", ["", "localhost", "1.2.3", "/var/run/docker.sock", "1.1.1.1:80"])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert AddressGuard().refusal(text) is not None


@pytest.mark.parametrize(
    ("allowed", "address"),
    [
        ("10.0.0.0/8", "10.1.2.3"),
        ("10.1.2.3", "10.1.2.3"),
        ("10.1.2.3/8", "10.9.9.9"),
        ("10.0.0.0/8", "::ffff:10.1.2.3"),
        ("10.0.0.0/8", "64:ff9b::10.1.2.3"),
        ("::1", "::1"),
        ("fe80::/10", "fe80::1%eth0"),
        ("2002::/16", "2002:7f00:1::1"),
    ],
)
def test_the_operator_may_allow_a_network(allowed: str, address: str) -> None:
    guard = AddressGuard(["192.168.7.7", allowed])
    assert guard.refusal(address) is None
    assert guard.refusal("169.254.169.254") is not None
    assert guard.refusal("127.0.0.1") is not None


@pytest.mark.parametrize("text", ["10.0.0.0/33", "intranet", "", "10.0.0", "http://10.0.0.1/"])
def test_a_network_that_is_none_is_a_bad_setting(text: str) -> None:
    with pytest.raises(ConfigError, match="allowed_networks"):
        AddressGuard([text])


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_judged_the_same_in_ipv6(address: IPv4Address) -> None:
    verdict = forbidden(address)
    assert forbidden(unwrap(ip_address(f"::ffff:{address}"))) == verdict
    assert forbidden(unwrap(ip_address(f"64:ff9b::{address}"))) == verdict


@given(st.ip_addresses())
def test_what_python_calls_private_is_refused(address: IPv4Address | IPv6Address) -> None:
    if address.is_private or address.is_loopback or address.is_link_local or address.is_multicast:
        assert forbidden(unwrap(address)) is not None


@pytest.mark.parametrize(
    ("url", "is_refused"),
    [
        ("http://127.0.0.1/", True),
        ("http://127.0.0.1:8080/", True),
        ("https://[::1]/", True),
        ("https://[fd00:ec2::254]:8443/a", True),
        ("http://localhost/", True),
        ("http://www.localhost:99/", True),
        ("http://8.8.8.8/", False),
        ("http://[2606:4700:4700::1111]:8080/", False),
        ("http://example.com/127.0.0.1", False),
        ("http://localhost.example.com/", False),
        ("http://10.example/", False),
    ],
)
def test_addresses_in_urls_are_judged_for_use_behind_a_proxy(url: str, is_refused: bool) -> None:
    assert (AddressGuard().refusal_of_url(url) is not None) == is_refused
