from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CrawlctlError, SeedError
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.pipeline.urls.seeds import Seed, Seeds, parse_seeds, read_seeds

if TYPE_CHECKING:
    from pathlib import Path

HOSTS = st.sampled_from(["example.com", "Example.ORG", "bücher.example", "[::1]:8080", "a.example:80"])
PATHS = st.text("abc/%7Ee?&=é.", max_size=10)
SCHEMES = st.sampled_from(["http", "https"])
LINES = st.one_of(
    st.binary(max_size=40),
    st.text("abc:/.?#@%\t \\[]é", max_size=40).map(str.encode),
    st.sampled_from([b"", b"# note", b"example.com\thttp://example.com/a", b"http://example.com/b"]),
)


@st.composite
def host_lines(draw: st.DrawFn) -> tuple[str, list[str]]:
    host = draw(HOSTS)
    urls = draw(st.lists(st.tuples(SCHEMES, PATHS), min_size=1, max_size=4))
    return host, [f"{scheme}://{host}/{path}" for scheme, path in urls]


def reasons(text: str | bytes) -> list[str]:
    found = parse_seeds(text)
    assert not found.seeds
    return [problem.reason for problem in found.problems]


def test_the_customers_form_is_a_host_and_its_urls() -> None:
    found = parse_seeds(
        "example.com\thttp://example.com/a\thttps://example.com/b\nother.org\thttp://other.org/"
    )
    assert found.seeds == (
        Seed("http://example.com/a", 1),
        Seed("https://example.com/b", 1),
        Seed("http://other.org/", 2),
    )
    assert found.problems == ()
    assert found.require_all_good() is found


def test_plain_urls_and_host_lines_mix_with_comments_and_blank_lines() -> None:
    found = parse_seeds(
        "# start\n\nhttp://example.com/a\n \t \n  # more\nexample.com\thttp://example.com/b\n"
    )
    assert found.seeds == (Seed("http://example.com/a", 3), Seed("http://example.com/b", 6))


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_editors_of_any_system_may_have_saved_it(newline: bytes, mark: bytes) -> None:
    found = parse_seeds(
        mark + newline.join([b"a.example\thttp://a.example/\t", b"", b" http://b.example/ ", b""])
    )
    assert found.seeds == (Seed("http://a.example/", 1), Seed("http://b.example/", 3))
    assert not found.problems


@pytest.mark.parametrize("first", ["# note", "http://b.example/", ""])
def test_a_byte_order_mark_is_no_part_of_the_first_line(first: str) -> None:
    found = parse_seeds(f"\ufeff{first}\nhttp://b.example/")
    assert (found.urls, found.problems) == (("http://b.example/",), ())


def test_seeds_are_canonical_and_each_comes_once() -> None:
    found = parse_seeds(
        "http://Example.com:80/%7ea#x\nexample.com\thttp://example.com/~a?utm_x=1", strip=("utm_*",)
    )
    assert found.seeds == (Seed("http://example.com/~a", 1),)
    assert found.urls == ("http://example.com/~a",)


@pytest.mark.parametrize(
    ("line", "url"),
    [
        ("example.com", "https://example.com/"),
        ("Bücher.example", "https://xn--bcher-kva.example/"),
        ("example.com:443", "https://example.com/"),
        ("192.0.2.1", "https://192.0.2.1/"),
        ("[::1]", "https://[::1]/"),
    ],
)
def test_a_host_alone_is_its_front_page(line: str, url: str) -> None:
    assert parse_seeds(line).urls == (url,)


@pytest.mark.parametrize(
    "line",
    [
        "EXAMPLE.com\thttp://example.com/",
        "example.com.\thttp://example.com/",
        "example.com:80\thttp://example.com/",
        "example.com\thttps://example.com:443/",
        "xn--bcher-kva.example\thttp://bücher.example/",
        "127.0.0.1:8080\thttp://0x7f.1:8080/",
    ],
)
def test_hosts_are_compared_in_canonical_form(line: str) -> None:
    assert not parse_seeds(line).problems


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "example.com\thttp://other.org/",
            "is a URL of other.org, but its line begins with example.com; give it a line of its own",
        ),
        ("example.com\thttp://www.example.com/", "with and without www. are two hosts"),
        ("www.example.com\thttp://example.com/", "with and without www. are two hosts"),
        (
            "example.com\thttp://example.com:8080/",
            "is a URL of example.com:8080, but its line begins with example.com",
        ),
        (
            "example.com:80\thttps://example.com/",
            "is a URL of example.com, but its line begins with example.com:80",
        ),
        ("example.com\t/docs", "/docs: a URL needs its scheme"),
        ("example.com\texample.com/docs", "example.com/docs: a URL needs its scheme"),
        ("example.com http://example.com/", "put a TAB between the host and each of its URLs"),
        ("example.com/docs", "neither a host nor a URL; a URL needs its scheme"),
        ("example.com:8080", "with a port the scheme is not clear; write the whole URL"),
        ("\thttp://example.com/", "the line begins with a TAB; write the host before it"),
        ("http://a.example/\thttp://b.example/", "write the host before it, or only one URL per line"),
        ("http://a.example/ http://b.example/", "white space in a URL"),
        ("exa%mple\thttp://example.com/", "https://exa%mple/: not a valid URL"),
        ("user@example.com", "neither a host nor a URL"),
        ("http://me:secret@example.com/", "carries a user name or password"),
        ("ftp://example.com/", "the scheme ftp is not crawled"),
        ("mailto:me@example.com", "the scheme mailto is not crawled"),
        ("http://", "not a valid URL"),
        ("http://example.com/" + "a" * 5000, "longer than 4096 bytes"),
        (b"http://example.com/\xe9", "byte 20 of the line is not UTF-8"),
        ("http://example.com/\ud800", "byte 20 of the line is not UTF-8"),
        ("http://example.com/".encode("utf-16"), "the file is UTF-16; save it as UTF-8"),
    ],
)
def test_a_bad_line_is_one_problem_with_its_reason(line: str | bytes, reason: str) -> None:
    (found,) = reasons(line)
    assert reason in found


def test_the_good_urls_of_a_line_are_found_beside_the_bad() -> None:
    found = parse_seeds("\na.example\thttp://a.example/1\thttp://b.example/\tx\thttp://a.example/2")
    assert found.urls == ("http://a.example/1", "http://a.example/2")
    assert [problem.line for problem in found.problems] == [2, 2]


def test_a_bad_host_is_one_problem_however_many_urls_follow() -> None:
    assert len(reasons("a b\thttp://a.example/\thttp://a.example/2")) == 1


def test_the_error_names_the_first_lines_the_count_and_the_remedy() -> None:
    found = parse_seeds("http://a.example/\n" + "ftp://x/\n" * 5, source="seed.txt")
    with pytest.raises(SeedError) as caught:
        found.require_all_good()
    message = str(caught.value)
    assert message.startswith(
        "seed.txt: 5 problems; fix or pass --skip-bad: line 2: ftp://x/: the scheme ftp"
    )
    assert "line 4:" in message and "line 5:" not in message
    assert message.endswith("| and 2 more")
    assert caught.value.exit_code == 2


def test_as_many_problems_as_are_shown_leave_no_more() -> None:
    with pytest.raises(SeedError, match=r": 3 problems; .* line 3: [^|]*$"):
        parse_seeds("ftp://x/\n" * 3).require_all_good()


def test_a_single_problem_is_told_without_a_count_of_more() -> None:
    with pytest.raises(SeedError, match=r"^<seeds>: 1 problem; fix or pass --skip-bad: line 1: [^|]*$"):
        parse_seeds("ftp://x/").require_all_good()


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing yet"])
def test_a_file_without_a_page_is_not_good(text: str) -> None:
    assert parse_seeds(text) == Seeds("<seeds>", (), ())
    with pytest.raises(SeedError, match=r"contains no URL; add a line such as https://example.com/"):
        parse_seeds(text).require_all_good()


def test_a_file_is_read_from_disk_under_its_name(tmp_path: Path) -> None:
    path = tmp_path / "seed.txt"
    path.write_bytes(b"ftp://x/")
    found = read_seeds(path)
    assert found.source == str(path)
    assert [problem.line for problem in found.problems] == [1]


@pytest.mark.parametrize(("name", "reason"), [("missing.txt", "No such file"), (".", "Is a directory")])
def test_a_file_that_cannot_be_read_is_a_seed_error(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(SeedError, match=f"{reason}.*; check the path of the seed file"):
        read_seeds(tmp_path / name)


def test_the_example_of_the_repository_is_in_the_customers_form(repository: Path) -> None:
    found = read_seeds(repository / "seed.txt").require_all_good()
    lines = (repository / "seed.txt").read_text().splitlines()
    assert all(line.split("\t")[0] == host_of(line.split("\t")[1]) for line in lines)
    assert len(found.urls) == sum(line.count("\t") for line in lines) >= 5


@given(st.lists(host_lines(), max_size=5), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_what_is_written_in_the_customers_form_is_read_back(
    lines: list[tuple[str, list[str]]], newline: str, ended: bool
) -> None:
    text = newline.join("\t".join([host, *urls]) for host, urls in lines) + newline * ended
    expected = {
        canonical(url): number
        for number, (_, urls) in reversed([*enumerate(lines, 1)])
        for url in reversed(urls)
    }
    found = parse_seeds(text)
    assert not found.problems
    assert {seed.url: seed.line for seed in found.seeds} == expected
    assert list(found.urls) == list(dict.fromkeys(canonical(url) for _, urls in lines for url in urls))


@given(st.lists(LINES, max_size=8).map(b"\n".join))
def test_any_bytes_give_seeds_and_problems_of_lines_that_exist(data: bytes) -> None:
    found = parse_seeds(data)
    lines = range(1, len(data.splitlines()) + 1)
    assert all(seed.line in lines and canonical(seed.url) == seed.url for seed in found.seeds)
    assert all(problem.line in lines and problem.reason.isprintable() for problem in found.problems)
    assert len(set(found.urls)) == len(found.urls)


@given(st.lists(LINES, max_size=8).map(b"\n".join))
def test_only_good_files_are_let_through(data: bytes) -> None:
    found = parse_seeds(data)
    try:
        good = found.require_all_good()
    except CrawlctlError as error:
        assert found.problems or not found.seeds
        assert str(error).isprintable()
    else:
        assert good.seeds and not good.problems
