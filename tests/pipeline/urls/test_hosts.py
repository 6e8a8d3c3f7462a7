from __future__ import annotations

import hashlib
import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.hosts import (
    host_in_key,
    host_of,
    host_of_key,
    host_ranges,
    key_bounds,
    key_prefix,
    partition_of,
    stable_hash,
    url_in_key,
    url_of_key,
    webdb_key,
)

LABELS = st.text("abc019!~-", min_size=1, max_size=4)
CANONICAL = st.builds(
    lambda scheme, labels, port, rest: canonical(f"{scheme}://{'.'.join(labels)}.test{port}/{rest}"),
    st.sampled_from(["http", "https"]),
    st.lists(LABELS, min_size=1, max_size=3),
    st.sampled_from(["", ":80", ":8080"]),
    st.text("ab/?.", max_size=8),
)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.com/a/b", "example.com"),
        ("https://example.com", "example.com"),
        ("http://example.com:80/", "example.com"),
        ("https://example.com:80/", "example.com:80"),
        ("http://Example.COM:8080?a/b", "example.com:8080"),
        ("http://example.com./", "example.com"),
        ("http://[::1]/a", "[::1]"),
        ("http://[0::1]:8080/a", "[::1]:8080"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://a/", "a"),
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("  http:////a.example/b", "a.example"),
        ("http:\\\\a.example\\b/c", "a.example"),
    ],
)
def test_the_host_has_its_port_unless_it_is_the_default(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    "url", ["", "example.com/a", "/a/b/c/d/e/f", "ftp://example.com/", "http://a b/", "http://u@a/"]
)
def test_what_is_no_url_has_no_host(url: str) -> None:
    with pytest.raises(UrlError):
        host_of(url)


# Data of every crawl lies where these numbers put them: a change here orphans all of them.
@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("", 0x786A02F742015903),
        ("abc", 0xBA80A53F981C4D0D),  # RFC 7693, appendix A
    ],
)
def test_the_hash_is_that_of_the_standard(data: str, value: int) -> None:
    assert stable_hash(data) == stable_hash(data.encode()) == value


@given(st.binary())
def test_the_hash_is_the_head_of_blake2b(data: bytes) -> None:
    assert f"{stable_hash(data):016x}" == hashlib.new("blake2b512", data).hexdigest()[:16]


@pytest.mark.parametrize(
    ("host", "of_4", "of_300"),
    [("example.com", 3, 263), ("docs.python.org", 0, 152), ("[::1]:8080", 1, 237), ("127.0.0.1", 2, 258)],
)
def test_hosts_never_move_to_another_partition(host: str, of_4: int, of_300: int) -> None:
    assert (partition_of(host, 4), partition_of(host, 300)) == (of_4, of_300)


@pytest.mark.parametrize("partitions", [1, 4, 7, 64])
def test_hosts_spread_evenly(partitions: int) -> None:
    hosts = [f"{name}{number}.example.com" for name in ("www", "shop") for number in range(8000)]
    counts = Counter(partition_of(host, partitions) for host in hosts)
    mean = len(hosts) / partitions
    assert set(counts) == set(range(partitions))
    # Six standard deviations of a fair throw; the hosts are fixed, so this holds or fails for good.
    assert all(abs(count - mean) < 6 * mean**0.5 + 1 for count in counts.values())


def test_a_key_is_host_space_url() -> None:
    key = webdb_key("http://example.com:8080/a?b")
    assert key == b"example.com:8080 http://example.com:8080/a?b"
    assert url_of_key(key) == "http://example.com:8080/a?b"
    assert host_of_key(key) == "example.com:8080"


@given(st.lists(CANONICAL, max_size=8))
def test_keys_sort_by_host_then_url_and_give_the_url_back(urls: list[str]) -> None:
    keys = sorted(webdb_key(url) for url in urls)
    assert [url_of_key(key) for key in keys] == sorted(urls, key=lambda url: (host_of(url), url))
    groups = [host for host, _ in itertools.groupby(keys, host_of_key)]
    assert len(groups) == len(set(groups))


@given(st.lists(CANONICAL, max_size=8))
def test_the_parts_of_a_key_as_bytes_are_those_as_text(urls: list[str]) -> None:
    for key in map(webdb_key, urls):
        assert host_in_key(key).decode() == host_of_key(key)
        assert url_in_key(key).decode() == url_of_key(key)


@given(st.lists(CANONICAL, max_size=8, unique=True))
def test_the_keys_of_a_host_are_found_by_bounds_prefix_and_range(urls: list[str]) -> None:
    keys = sorted(map(webdb_key, urls))
    ranges = {host: keys[start:end] for host, start, end in host_ranges(keys)}
    assert [key for some in ranges.values() for key in some] == keys
    for host, some in ranges.items():
        assert {host_in_key(key) for key in some} == {host}
        first, after = key_bounds(host)
        assert [key for key in keys if first < key < after] == some
        assert [key for key in keys if key.startswith(key_prefix(some[0]))] == some


def test_a_url_that_is_not_canonical_makes_no_key() -> None:
    with pytest.raises(UrlError, match="not in canonical form"):
        webdb_key("http://example.com/é")


@pytest.mark.parametrize("key", [b"", b"example.com", b" http://a/", b"a ", b"a http://a/\xff"])
def test_what_is_no_key_is_refused(key: bytes) -> None:
    with pytest.raises(UrlError, match="check that the file is a part of a WebDB"):
        url_of_key(key)
