from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.urls import whatwg
from crawlctl.pipeline.urls.whatwg import MAX_URL_BYTES, join, parse, shown

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "https://example.com/docs/guide.html?lang=en#top"
LINKS = st.text("aB0/\\?#%.:@[]&= \t\n\x00\x7fé\u200d\ud800", max_size=30) | st.text(max_size=30)


@pytest.fixture(scope="session")
def wpt_cases(repository: Path) -> list[dict[str, Any]]:
    path = repository.parent / "shared" / "data" / "conformance" / "wpt-urltestdata.json"
    if not path.exists():
        pytest.skip(f"{path.name} of web-platform-tests is not beside the repository")
    return [case for case in json.loads(path.read_bytes()) if isinstance(case, dict)]


@pytest.fixture(params=["extension", "package"])
def resolver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "package":
        monkeypatch.setattr(whatwg, "_resolve", whatwg._resolve_by_package)
    else:
        assert whatwg._resolve is not whatwg._resolve_by_package


@pytest.mark.usefixtures("resolver")
def test_every_http_case_of_the_web_platform_tests_gives_its_href(wpt_cases: list[dict[str, Any]]) -> None:
    cases = [case for case in wpt_cases if case.get("protocol") in ("http:", "https:")]
    assert len(cases) > 200
    for case in cases:
        assert join(case["base"], case["input"]) == case["href"], case


@pytest.mark.usefixtures("resolver")
def test_every_other_case_of_the_web_platform_tests_is_refused(wpt_cases: list[dict[str, Any]]) -> None:
    cases = [case for case in wpt_cases if case.get("protocol") not in ("http:", "https:")]
    assert sum("failure" in case for case in cases) > 200
    for case in cases:
        with pytest.raises(UrlError):
            join(case["base"], case["input"])


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ("", "https://example.com/docs/guide.html?lang=en"),
        ("#end", "https://example.com/docs/guide.html?lang=en#end"),
        ("?q", "https://example.com/docs/guide.html?q"),
        ("../a b", "https://example.com/a%20b"),
        ("//cdn.example/x", "https://cdn.example/x"),
        ("\\up\\side", "https://example.com/up/side"),
        ("  https:other\n", "https://example.com/docs/other"),
        ("/a\tb\nc", "https://example.com/abc"),
        ("/\x00\x1f\x7f", "https://example.com/%00%1F%7F"),
        ("/half\ud800pair", "https://example.com/half%EF%BF%BDpair"),
        ("/../../%2e%2E/x", "https://example.com/x"),
    ],
)
def test_links_resolve_as_in_a_browser(link: str, url: str) -> None:
    assert join(PAGE, link) == url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("HTTP://EXAMPLE.com:80", "http://example.com/"),
        ("https://example.com:443/", "https://example.com/"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("http:///x", "http://x/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433", "http://127.0.0.1/"),
        ("http://0177.0.0.0x1/", "http://127.0.0.1/"),
        ("http://[0:0::1]:8080/", "http://[::1]:8080/"),
        ("http://bücher.example/ß", "http://xn--bcher-kva.example/%C3%9F"),
        ("http://ＥＸＡＭＰＬＥ。com/", "http://example.com/"),
        ("http://user:word@example.com/#x", "http://user:word@example.com/#x"),
    ],
)
def test_absolute_urls_take_the_form_of_the_standard(text: str, url: str) -> None:
    assert parse(text) == url


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ftp://example.com/", "the scheme ftp is not crawled; give an http or https URL"),
        ("mailto:a@example.com", "the scheme mailto is not crawled"),
        ("data:text/html,hi", "the scheme data is not crawled"),
        ("example.com/page", "a URL needs its scheme; write it as https://"),
        ("", "a URL needs its scheme"),
        ("#top", "a URL needs its scheme"),
        ("http://", "not a valid URL; check its host and port"),
        ("http://a b/", "not a valid URL"),
        ("http://256.256.256.256/", "not a valid URL"),
        ("http://example.com:99999/", "not a valid URL"),
        ("http://exa\x00mple/", "not a valid URL"),
        ("http://[::1/", "not a valid URL"),
    ],
)
def test_what_we_cannot_fetch_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(UrlError, match="(?s)" + reason.replace("?", r"\?")):
        parse(text)


def test_a_bad_link_is_reported_with_its_page() -> None:
    with pytest.raises(UrlError, match=r"http://:0: not a valid URL on the page https://example.com/docs"):
        join(PAGE, "http://:0")


def test_a_bad_base_is_refused_too() -> None:
    with pytest.raises(UrlError, match="not a valid URL on the page nowhere"):
        join("nowhere", "x")


@pytest.mark.parametrize("size", [MAX_URL_BYTES + 1, 1 << 20])
def test_a_url_is_bounded_before_it_is_parsed(size: int) -> None:
    with pytest.raises(UrlError, match=f"longer than {MAX_URL_BYTES} bytes") as caught:
        parse("http://example.com/".ljust(size, "a"))
    assert len(str(caught.value)) < 250
    with pytest.raises(UrlError, match="longer than"):
        parse("http://example.com/".rjust(size))


def test_a_url_is_bounded_by_what_it_becomes() -> None:
    fits = "http://example.com/".ljust(MAX_URL_BYTES, "a")
    assert parse(fits) == fits
    with pytest.raises(UrlError, match="longer than"):
        parse("http://example.com/" + "é" * (MAX_URL_BYTES // 4))
    with pytest.raises(UrlError, match="longer than"):
        join(fits[:-1] + "/", "bb")


def test_messages_cannot_steer_the_terminal() -> None:
    assert shown("a\x1b[2Jé\u202e") == "a\\x1b[2Jé\\u202e"
    assert shown("é" * 500) == "é" * 100 + "…"


def test_without_the_private_module_the_public_one_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    assert whatwg._choose_resolver() is whatwg._resolve_by_package


@given(LINKS, st.sampled_from([None, PAGE, "http://[::1]:8080", "nonsense"]))
def test_both_ways_to_ada_agree(link: str, base: str | None) -> None:
    def outcome(resolve: Any) -> Any:
        try:
            return resolve(base, link)
        except UnicodeEncodeError:
            return UnicodeEncodeError

    assert outcome(whatwg._resolve) == outcome(whatwg._resolve_by_package)


@given(LINKS)
def test_a_joined_link_is_plain_ascii_and_parses_to_itself_or_is_refused(link: str) -> None:
    try:
        url = join(PAGE, link)
    except UrlError as error:
        assert "\n" not in str(error)
        return
    assert url.isascii() and url.isprintable() and " " not in url
    assert parse(url) == url
