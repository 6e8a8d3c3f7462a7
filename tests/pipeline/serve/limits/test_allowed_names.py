from __future__ import annotations

import pytest

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.serve.limits.allowed_names import allowed_hosts, allowed_origins


def test_origins_are_written_as_browsers_send_them() -> None:
    given = ["https://Example.org/", "http://127.0.0.1:9000", "moz-extension://a-b", "*"]
    assert allowed_origins(given) == ("https://example.org", *given[1:])


@pytest.mark.parametrize(
    "text", ["example.org", "https://example.org/page", "https://", "null", "", "https:"]
)
def test_what_no_browser_sends_is_no_origin(text: str) -> None:
    with pytest.raises(
        ConfigError, match=r"is no origin of a web page; .* --allow-origin https://example\.org"
    ):
        allowed_origins([text])


def test_hosts_are_compared_without_ports() -> None:
    assert allowed_hosts(["Search.example.org:8080", "intranet."]) == ("search.example.org", "intranet")


@pytest.mark.parametrize("text", ["https://search.example.org", "search.example.org/", "", "a b", "me@host"])
def test_an_address_is_no_name_of_a_host(text: str) -> None:
    with pytest.raises(ConfigError, match=r"is no name of a host; .* --allow-host search\.example\.org"):
        allowed_hosts([text])
