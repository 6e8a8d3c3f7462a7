from __future__ import annotations

from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import ConfigError, UrlError
from crawlctl.pipeline.urls.canonical import canonical, canonical_link
from crawlctl.pipeline.urls.whatwg import parse

TRACKING = ("utm_*", "gclid")
HOSTS = st.sampled_from(
    ["example.com", "EXAMPLE.com.", "bücher.example:8080", "0x7f.1", "[::1]:81", "a.b.:443"]
)
RESTS = st.text("%%%%0124567aAbBcCeEfF.~-_/?&=#;gclidutm_é\\ ", max_size=40) | st.text(max_size=40)
STRIPS = st.sampled_from([(), TRACKING, ("*",), ("a", "b*")])


@st.composite
def urls(draw: st.DrawFn) -> str:
    return f"{draw(st.sampled_from(['http', 'HTTPS']))}://{draw(HOSTS)}/{draw(RESTS)}"


@pytest.mark.parametrize(
    ("spelling", "identity"),
    [
        ("http://Example.COM:80/a#part", "http://example.com/a"),
        ("https://example.com", "https://example.com/"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("http://example.com/%7euser/%41%2d%2E%5f", "http://example.com/~user/A-._"),
        ("http://example.com/a%2fb%3f", "http://example.com/a%2Fb%3F"),
        ("http://example.com/caf%c3%a9", "http://example.com/caf%C3%A9"),
        ("http://example.com/café", "http://example.com/caf%C3%A9"),
        ("http://example.com/caf%e9", "http://example.com/caf%E9"),
        ("http://example.com/%2541", "http://example.com/%2541"),
        ("http://example.com/100%", "http://example.com/100%"),
        ("http://example.com/%zz%7e", "http://example.com/%zz~"),
        ("http://example.com/a/%2e%2e/b/.%2E/c", "http://example.com/c"),
        ("http://example.com/a/%2e%2e%2fb", "http://example.com/a/..%2Fb"),
        ("http://example.com/?", "http://example.com/"),
        ("http://example.com/a?#b", "http://example.com/a"),
        ("http://example.com/a?b=%7e&a=1&b=", "http://example.com/a?b=~&a=1&b="),
        ("http://example.com/a??", "http://example.com/a??"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://example.com.:8080/a", "http://example.com:8080/a"),
        ("http://127.0.0.1./", "http://127.0.0.1/"),
        ("http://[2001:DB8::0:1]:80/", "http://[2001:db8::1]/"),
        ("http://[2001:DB8::0:1]:81/", "http://[2001:db8::1]:81/"),
        ("http://@example.com/@x:y@z", "http://example.com/@x:y@z"),
    ],
)
def test_spellings_of_one_page_are_one_url(spelling: str, identity: str) -> None:
    assert canonical(spelling) == identity


@pytest.mark.parametrize(
    ("path", "identity"),
    [("%%34%31", "%%341"), ("%4%31", "%4%31"), ("%%%34%31", "%%%341"), ("%a%41%4", "%a%41%4")],
)
def test_decoding_never_spells_a_new_escape(path: str, identity: str) -> None:
    assert canonical(f"http://example.com/{path}") == f"http://example.com/{identity}"


def test_a_stray_percent_keeps_what_follows_it_but_no_more() -> None:
    assert canonical("http://example.com/%a%7e%7e") == "http://example.com/%a%7E~"


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("?utm_source=x", ""),
        ("?utm_", ""),
        ("?b=1&utm_source=x&a=2&gclid=3", "?b=1&a=2"),
        ("?gclid", ""),
        ("?gclid2=1&xutm_a=1&GCLID=1&a=utm_b", "?gclid2=1&xutm_a=1&GCLID=1&a=utm_b"),
        ("?utm%5fsource=%&a=%7e", "?a=~"),
        ("?a&&utm_x=1", "?a&"),
        ("?&gclid=1", ""),
        ("?a=1?gclid=2", "?a=1?gclid=2"),
    ],
)
def test_named_parameters_are_stripped_and_the_rest_keeps_its_order(query: str, kept: str) -> None:
    assert canonical(f"http://example.com/p{query}", TRACKING) == f"http://example.com/p{kept}"
    assert canonical_link("http://example.com/", f"p{query}#x", TRACKING) == f"http://example.com/p{kept}"


def test_nothing_is_stripped_unless_asked() -> None:
    assert canonical("http://example.com/?utm_source=x") == "http://example.com/?utm_source=x"


@pytest.mark.parametrize("name", ["", "utm*source", "**", "a=b", "a&b"])
def test_a_pattern_that_cannot_match_as_meant_is_a_config_error(name: str) -> None:
    with pytest.raises(ConfigError, match=r"as in utm_\*"):
        canonical("http://example.com/?a", (name,))


@pytest.mark.parametrize(
    "url", ["http://me@example.com/", "https://me:secret@example.com/", "http://:secret@a/"]
)
def test_credentials_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(
        UrlError, match="carries a user name or password; give the URL without them"
    ) as caught:
        canonical(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "host", [".", "a..", "a..b", ".a", "a" * 64 + ".com", ".".join(["abcdefgh"] * 29), "a..:8080"]
)
def test_hosts_dns_cannot_hold_are_refused(host: str) -> None:
    with pytest.raises(UrlError, match="not a valid DNS name; check it"):
        canonical(f"http://{host}/")


def test_the_longest_hosts_of_dns_are_fine() -> None:
    host = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 61])
    assert canonical(f"http://{host}./") == f"http://{host}/"


@given(urls(), STRIPS)
@example("http://a/%%34%31", ())
@example("http://a/?utm_=%&b=%41", TRACKING)
@example("http://a/%?%41", ())
def test_canonical_is_a_fixpoint_of_itself_and_of_the_parser(url: str, strip: tuple[str, ...]) -> None:
    try:
        identity = canonical(url, strip)
    except UrlError:
        assume(False)
    assert canonical(identity, strip) == identity
    assert canonical(identity) == identity
    assert parse(identity) == identity
    assert "#" not in identity


@given(urls())
def test_the_page_asked_for_stays_the_same(url: str) -> None:
    href = parse(url).partition("#")[0]
    path, _, query = href[href.index("/", 8) :].partition("?")
    identity = canonical(url)
    path_after, _, query_after = identity[identity.index("/", 8) :].partition("?")
    for before, after in ((path, path_after), (query, query_after)):
        assert unquote_to_bytes(before) == unquote_to_bytes(after)
        # What separates the parts of a URL is neither made nor unmade by decoding.
        assert [c for c in before if c in "/?&=;+@:"] == [c for c in after if c in "/?&=;+@:"]


@given(st.text(st.sampled_from("abcXYZ019-._~"), min_size=1))
def test_however_unreserved_characters_are_escaped_the_identity_is_one(text: str) -> None:
    plain = canonical(f"http://example.com/x{text}?{text}")
    upper = "".join(f"%{ord(character):02X}" for character in text)
    assert canonical(f"http://example.com/x{upper}?{upper}") == plain
    assert canonical(f"http://example.com/x{upper.lower()}?{upper.lower()}") == plain


@given(st.dictionaries(st.text("abcdu_tm", min_size=1, max_size=6), st.text("xyz", max_size=3), max_size=6))
def test_stripping_is_filtering(parameters: dict[str, str]) -> None:
    def query(names: list[str]) -> str:
        return "&".join(f"{name}={parameters[name]}" for name in names)

    kept = query([name for name in parameters if not name.startswith("utm_")])
    expected = f"http://example.com/?{kept}" if kept else "http://example.com/"
    assert canonical(f"http://example.com/?{query(list(parameters))}", TRACKING) == expected


@given(RESTS)
def test_a_link_has_the_identity_of_the_page_it_leads_to(link: str) -> None:
    page = "http://example.com/a/b?c"
    try:
        identity = canonical_link(page, link)
    except UrlError:
        assume(False)
    assert canonical(identity) == identity
    assert canonical_link(page, identity) == identity
