from __future__ import annotations

import pytest

from crawlctl.pipeline.config.settings import SiteRules
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.text.details.site_keys import site_key, site_of

KEYS = (
    "example.org",
    "*.example.org",
    "docs.Example.org",
    "docs.example.org:8080",
    "docs.example.org/api/",
    "https://docs.example.org/api/*",
    "*.b.example.org/x/",
    "*.example.org:8080",
)
SITES = dict.fromkeys(KEYS, SiteRules())


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://example.org/", "example.org"),
        ("https://example.org:8443/", "example.org"),
        ("https://a.example.org/", "*.example.org"),
        ("https://docs.example.org/", "docs.Example.org"),
        ("http://docs.example.org:8080/api/", "docs.example.org:8080"),
        ("http://docs.example.org/api/x", "docs.example.org/api/"),
        ("https://docs.example.org/api/x", "https://docs.example.org/api/*"),
        ("https://docs.example.org/apis", "docs.Example.org"),
        ("https://a.b.example.org/x/y", "*.b.example.org/x/"),
        ("https://a.b.example.org/y", "*.example.org"),
        ("https://a.example.org:8080/", "*.example.org:8080"),
        ("https://a.example.org:8081/", "*.example.org"),
        ("https://notexample.org/", None),
    ],
)
def test_the_most_exact_key_counts(url: str, key: str | None) -> None:
    assert site_of(SITES, url) == key
    assert site_of(dict(reversed(SITES.items())), url) == key


@pytest.mark.parametrize(
    "key",
    [
        *["", "*", "a b", "ftp://a.org/", "a.*.org", "https://", "https://a.org/*/x", "*.", "://a"],
        *["a.org?x=1", "a.org?x=/1", "a.org#f", "https://a.org/docs#f"],
    ],
)
def test_what_is_no_site_is_refused(key: str) -> None:
    with pytest.raises(ConfigError, match=r"neither a host nor the beginning of URLs; write example\.org"):
        site_key(key)
