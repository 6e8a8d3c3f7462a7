from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.secrets import redacted, without_secret


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("", ""),
        ("http://proxy.example:3128", "http://proxy.example:3128"),
        ("http://anna:secret@proxy.example:3128/", "http://anna:***@proxy.example:3128/"),
        ("anna:secret@proxy.example", "anna:***@proxy.example"),
        ("socks5://anna:secret@proxy.example", "socks5://anna:***@proxy.example"),
        ("http://token@proxy.example", "http://***@proxy.example"),
        ("http://:secret@proxy.example", "http://:***@proxy.example"),
        ("http://anna:se@cr/et@proxy.example", "http://anna:***@proxy.example"),
    ],
)
def test_a_password_is_never_shown(url: str, shown: str) -> None:
    assert redacted(url) == shown
    assert redacted(shown) == shown


def test_a_message_that_quotes_the_url_or_its_password_is_cleaned() -> None:
    url = "http://anna:s%20e@proxy:99999"
    message = "Unsupported proxy syntax in 'http://anna:s%20e@proxy:99999'; no user 'anna' with 's e'"
    assert without_secret(message, url) == (
        "Unsupported proxy syntax in 'http://anna:***@proxy:99999'; no user 'anna' with '***'"
    )
    assert without_secret("nothing of it", url) == "nothing of it"
    assert without_secret("no proxy at all", "") == "no proxy at all"


# Letters that stand nowhere else in these messages, and signs that a URL parser would trip over.
@given(st.text("QXZ@/:%? ", min_size=1).filter(lambda text: set(text) & set("QXZ")))
def test_whatever_the_password_looks_like_it_is_hidden(password: str) -> None:
    url = f"http://anna:{password}@proxy.example:3128"
    for shown in (redacted(url), without_secret(f"cannot reach {url} ({password})", url)):
        assert not set(shown) & set("QXZ")
