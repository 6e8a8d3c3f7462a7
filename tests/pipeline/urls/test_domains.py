from __future__ import annotations

import pytest

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.urls.domains import domain_of, registrable_domain


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
    ("host", "domain"),
    [
        ("www.example.com", "example.com"),
        ("example.com", "example.com"),
        ("News.BBC.co.uk.", "bbc.co.uk"),
        ("docs.example.com:8080", "example.com"),
        ("alice.github.io", "alice.github.io"),
        ("www.alice.github.io", "alice.github.io"),
        ("github.io", "github.io"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("localhost:8000", "localhost"),
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1:81", "192.0.2.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("[2001:db8::1]:81", "[2001:db8::1]"),
        ("www.bücher.example", "xn--bcher-kva.example"),
        ("www.食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("city.kobe.jp", "city.kobe.jp"),
        ("www.unheard-of", "www.unheard-of"),
        ("a.www.unheard-of", "www.unheard-of"),
    ],
)
def test_the_registrable_domain_is_what_its_owner_registered(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


def test_a_bad_host_has_no_registrable_domain() -> None:
    with pytest.raises(UrlError):
        registrable_domain("a b")
