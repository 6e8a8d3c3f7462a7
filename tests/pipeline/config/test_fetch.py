"""What cannot be a proxy is refused before anything is asked through it."""

from __future__ import annotations

import pytest

from crawlctl.pipeline.config.fetch import FetchSettings


@pytest.mark.parametrize(
    "proxy",
    [
        "",
        "proxy.example",
        "proxy.example:3128",
        "http://proxy.example:3128/",
        "https://anna:secret@proxy.example",
        "http://anna:se@c:r/et@proxy.example:80",
        "anna:secret@proxy.example",
        "socks5h://127.0.0.1:1080",
        "http://[::1]:3128",
    ],
)
def test_a_proxy_is_taken_as_it_stands(proxy: str) -> None:
    assert FetchSettings(proxy=proxy).proxy == proxy


@pytest.mark.parametrize(
    "proxy",
    [
        "http://anna:secret@proxy.example:99999",
        "http://anna:secret@proxy.example:0",
        "http://anna:secret@proxy.example:port",
        "socks9://anna:secret@proxy.example",
        "http://anna:secret@proxy.example:1 x",
        "http://anna:secret@",
        "http://",
    ],
)
def test_what_is_no_proxy_is_refused_without_its_password(proxy: str) -> None:
    with pytest.raises(ValueError, match="proxy must be as in") as raised:
        FetchSettings(proxy=proxy)
    assert "secret" not in str(raised.value)
