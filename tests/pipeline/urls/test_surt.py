from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.urls.surt import surt

# The keys that the library `surt` 0.3.1 gives; tests/pipeline/crawl/exports/test_archive_tools.py asks it.
KEYS = {
    "http://www.example.com/": "com,example)/",
    "https://www2.Example.com:8443/A/B/?b=2&a=1&A=0": "com,example:8443)/a/b?a=0&a=1&b=2",
    "http://example.com/a//b/./c/../d/": "com,example)/a/b/d",
    "http://127.0.0.1:8080/x": "1,0,0,127:8080)/x",
    "http://[::1]:80/x": "::1)/x",
    "http://example.com/%7Euser/%C3%A4%2Fb%25zz": "com,example)/~user/%c3%a4/b%25zz",
    "http://example.com/?": "com,example)/",
    "http://example.com/a?PHPSESSID=0123456789abcdef0123456789abcdef&x=1": "com,example)/a?x=1",
    "http://example.com/a?x=%20+b%26c&&": "com,example)/a?&&c&x=%20+b",
    "http://example.com/(S(abcdefghijklmnopqrstuvwx))/p.aspx": "com,example)/p.aspx",
    "http://ex.com/a?cfid=1234&cftoken=5678&x=1": "com,ex)/a?x=1",
    "http://user:pw@ex.com./a": "com,ex)/a",
    "http://www1.www2.ex.com/": "com,ex,www2)/",
    "http://ex.com/%": "com,ex)/%25",
    "https://ex.com:443/": "com,ex)/",
    "https://ex.com:80/": "com,ex:80)/",
    "http://ex.com/a?b?c": "com,ex)/a?b?c",
}


@pytest.mark.parametrize(("url", "key"), KEYS.items())
def test_a_url_has_the_key_that_web_archives_give_it(url: str, key: str) -> None:
    assert surt(url) == key


@given(
    st.from_regex(r"https?://[a-z]{1,9}\.[a-z]{2,3}(:[1-9][0-9]{1,3})?(/[!-~]{0,12}){1,3}", fullmatch=True)
)
def test_a_key_is_one_word_in_lower_case(url: str) -> None:
    key = surt(url.partition("#")[0])
    assert key.isascii() and key == key.lower() and not set(" \t\n") & set(key)
