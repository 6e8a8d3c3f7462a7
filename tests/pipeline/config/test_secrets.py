from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.secrets import masked, redacted, shown_value, without_secret


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


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("fetch.proxy", "http://anna:secret@proxy", "http://anna:***@proxy"),
        ("fetch.proxy", "http://token@proxy", "http://***@proxy"),
        ("fetch.contact", "https://example.org/@me", "https://example.org/@me"),
        ("fetch.contact", "mailto:me@example.org", "mailto:me@example.org"),
        ("store", "s3://bucket/a@b:c", "s3://bucket/a@b:c"),
        ("runner.task_env", {"A_TOKEN": "x", "HOME": "/root"}, {"A_TOKEN": "***", "HOME": "/root"}),
        ("runner.options", ["--cmdenv", "DB_PASSWORD=x y"], ["--cmdenv", "DB_PASSWORD=***"]),
        ("runner.workers", 4, 4),
        ("runner.workers", None, None),
    ],
)
def test_a_setting_is_shown_without_its_secrets(key: str, value: object, shown: object) -> None:
    assert shown_value(key, value) == shown


def test_the_passwords_of_all_urls_in_a_text_are_hidden() -> None:
    text = (
        "no answer of http://anna:se@cret@nn1:9870/x?a=b@c nor of https://bob:other@nn2; see http://a/b:c@d"
    )
    assert masked(text) == (
        "no answer of http://anna:***@nn1:9870/x?a=b@c nor of https://bob:***@nn2; see http://a/b:c@d"
    )
