from __future__ import annotations

import pytest

from crawlctl.pipeline.config.settings import ScopeSettings
from crawlctl.pipeline.errors import SeedError, UrlError
from crawlctl.pipeline.http.exchange import ErrorKind
from crawlctl.pipeline.http.redirects import checked_url, redirect_of
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.urls.canonical import canonical_link
from crawlctl.pipeline.urls.ports import BAD_PORTS, bad_port
from crawlctl.pipeline.urls.seeds import parse_seeds

PAGE = "http://good.example/"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://a.example/", None),
        ("http://a.example:8080/", None),
        ("http://a.example:49152/x:25/", None),
        ("https://[2001:db8::19]/", None),
        ("https://[2001:db8::19]:8443/", None),
        ("http://a.example:25/", "port 25 is for smtp, and no browser fetches from it"),
        ("https://[2001:db8::1]:6667/", "port 6667 is for ircu, and no browser fetches from it"),
    ],
)
def test_only_the_ports_of_other_protocols_are_bad(url: str, reason: str | None) -> None:
    assert bad_port(url) == reason


def test_the_list_is_that_of_the_fetch_standard() -> None:
    assert len(BAD_PORTS) == 83
    assert {0, 1, 22, 25, 587, 993, 2049, 5060, 6000, 6669, 10080} <= set(BAD_PORTS)
    assert not {80, 443, 591, 3000, 8000, 8008, 8080, 8443, 8888} & set(BAD_PORTS)


def test_a_link_to_such_a_port_is_no_link() -> None:
    with pytest.raises(UrlError, match="port 25 is for smtp"):
        canonical_link(PAGE, "//mail.example:25/")


def test_neither_a_request_nor_a_redirect_goes_there() -> None:
    _, refused = checked_url("http://mail.example:25/robots.txt")
    target, lost = redirect_of(PAGE, 301, [("location", "http://mail.example:25/")])
    assert target is None
    assert [error and error.kind for error in (refused, lost)] == [ErrorKind.BAD_URL] * 2


def test_a_url_that_an_older_crawl_took_up_is_out_of_scope() -> None:
    scope = Scope(ScopeSettings(), ["mail.example:25", "web.example:8080"])
    assert str(scope.verdict("http://mail.example:25/", 0)) == (
        "a port of another protocol: port 25 is for smtp, and no browser fetches from it"
    )
    assert scope.verdict("http://web.example:8080/", 0) is None


def test_a_seed_there_is_an_error_that_says_why() -> None:
    with pytest.raises(SeedError, match=r"line 1: http://mail.example:25: port 25 is for smtp"):
        parse_seeds("http://mail.example:25/").require_all_good()
