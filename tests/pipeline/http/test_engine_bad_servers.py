"""Servers that break the rules: each misdeed is stopped by a bound and recorded for what it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple
from urllib.request import urlopen

import pycurl
import pytest

from crawlctl.pipeline.config.settings import FetchSettings
from crawlctl.pipeline.config.units import Duration, Size
from crawlctl.pipeline.http.engine import Engine
from crawlctl.pipeline.http.exchange import Answer, ErrorKind, Request, Truncation
from crawlctl.tests.pipeline.http.bad_client import Server, bad_server

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BODY = 1 << 20
MAX_HEADER = 16 << 10
# What the sockets of both sides may hold when we have closed ours.
IN_TRANSIT = 16 << 20
LONGEST_SECONDS = 12.0

HAS_BROTLI = bool(pycurl.version_info()[4] & pycurl.VERSION_BROTLI)
PAGE = b"<html><title>page</title><p>hello</html>"


class Case(NamedTuple):
    """A misdeed, and how it must be recorded."""

    path: str
    status: int = 0
    error: ErrorKind | None = None
    truncated: Truncation | None = None
    body: bytes | int | None = b""  # what it is, how long it is, or of no matter
    server: str = "plain"


CASES = (
    Case("good", 200, body=PAGE),
    Case("slow_drip", 200, ErrorKind.TOO_SLOW, Truncation.TIME, None),
    Case("slow_headers", 0, ErrorKind.TOO_SLOW),
    Case("never_answers", 0, ErrorKind.TOO_SLOW),
    Case("endless_body", 200, None, Truncation.LENGTH, MAX_BODY),
    Case("endless_chunks", 200, None, Truncation.LENGTH, MAX_BODY),
    Case("endless_headers", 0, ErrorKind.HEADERS_TOO_LARGE),
    Case("endless_header_line", 0, ErrorKind.HEADERS_TOO_LARGE),
    Case("endless_status_line", 0, ErrorKind.HEADERS_TOO_LARGE),
    Case("endless_interim", 0, ErrorKind.HEADERS_TOO_LARGE),
    Case("endless_hints", 0, ErrorKind.HEADERS_TOO_LARGE),
    Case("endless_trailers", 200, ErrorKind.HEADERS_TOO_LARGE, None, b"hello"),
    Case("redirect_loop", 302),
    Case("redirect?http://169.254.169.254/latest/meta-data/", 301),
    Case("redirect?file:///etc/passwd", 301, ErrorKind.UNSUPPORTED_SCHEME),
    Case("redirect?javascript:alert(1)", 301, ErrorKind.UNSUPPORTED_SCHEME),
    Case("redirect?http://user:secret@example.com/", 301, ErrorKind.BAD_URL),
    Case("redirect?http://[::zz]/", 301, ErrorKind.BAD_URL),
    Case("redirect_nowhere", 302, ErrorKind.BAD_RESPONSE),
    Case("gzip_bomb", 200, None, Truncation.LENGTH, MAX_BODY),
    Case("brotli_bomb", 200, None, Truncation.LENGTH, MAX_BODY)
    if HAS_BROTLI
    else Case("brotli_bomb", 200, ErrorKind.BAD_RESPONSE, Truncation.UNSPECIFIED),
    Case("nested_gzip", 0, ErrorKind.BAD_RESPONSE),
    # The length is right and libcurl does not mind that the stream has no end: we get what could be inflated.
    Case("cut_gzip", 200, body=None),
    Case("false_gzip", 200, ErrorKind.BAD_RESPONSE, Truncation.UNSPECIFIED),
    Case("unknown_encoding", 200, ErrorKind.BAD_RESPONSE, Truncation.UNSPECIFIED),
    Case("short_length", 200, body=PAGE[:10]),
    Case("long_length", 200, ErrorKind.RESET, Truncation.DISCONNECT, PAGE),
    Case("two_lengths", 0, ErrorKind.BAD_RESPONSE),
    Case("absurd_length", 200, body=PAGE),
    Case("negative_length", 0, ErrorKind.BAD_RESPONSE),
    Case("reset_in_body", 200, ErrorKind.RESET, Truncation.DISCONNECT, PAGE),
    Case("reset_in_headers", 0, ErrorKind.RESET),
    Case("closes_at_once", 0, ErrorKind.RESET),
    Case("nul_in_header", 0, ErrorKind.BAD_RESPONSE),
    Case("nul_in_body", 200, body=b"\0" * 100 + PAGE),
    Case("huge_cookie", 0, ErrorKind.HEADERS_TOO_LARGE),
    Case("lying_charset", 200, body=b"\xff\xfe\xc3\x28"),
    Case("lying_type", 200, body=72),
    Case("unwanted_type", 200, ErrorKind.UNWANTED_TYPE),
    Case("calendar?12", 200, body=b'<a href="/calendar?13">tomorrow</a>'),
    Case("many_links", 200, None, Truncation.LENGTH, MAX_BODY),
    Case("garbage_chunks", 200, ErrorKind.BAD_RESPONSE, Truncation.UNSPECIFIED, b"hello"),
    Case("absurd_chunk", 200, ErrorKind.BAD_RESPONSE, Truncation.UNSPECIFIED),
    Case("chunk_extensions", 200, ErrorKind.TOO_SLOW, Truncation.TIME, None),
    Case("crumbs?1", 200, ErrorKind.BAD_RESPONSE, Truncation.UNSPECIFIED, 100_096),
    Case("crumbs?64", 200, None, Truncation.LENGTH, MAX_BODY),
    Case("http_0_9", 0, ErrorKind.BAD_RESPONSE),
    Case("http2_nonsense", 0, ErrorKind.BAD_RESPONSE),
    Case("status_999", 999, body=PAGE),
    Case("text_status", 0, ErrorKind.BAD_RESPONSE),
    Case("body_with_204", 204),
    Case("body_with_304", 304),
    Case("folded_header", 200, body=PAGE),
    Case("good", 200, body=PAGE, server="good"),
    Case("good", 0, ErrorKind.TLS, server="self_signed"),
    Case("good", 0, ErrorKind.TLS, server="expired"),
    Case("good", 0, ErrorKind.TLS, server="other_host"),
    Case("good", 0, ErrorKind.TIMEOUT, server="stalled"),
    Case("", 200, body=b"<p>two</p>", server="http2"),
    Case("", 200, ErrorKind.BAD_RESPONSE, Truncation.UNSPECIFIED, 100_096, server="http2_crumbs"),
    Case("redirect?http://mail.example:25/", 301, ErrorKind.BAD_URL),
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with bad_server(tmp_path_factory.mktemp("certificates")) as server:
        yield server


@pytest.fixture(scope="module")
def answers(server: Server) -> dict[Case, Answer]:
    settings = FetchSettings(
        contact="https://example.org/bot",
        allowed_networks=("127.0.0.1",),
        ca_file=server.authority,
        connect_timeout=Duration(3),
        timeout=Duration(8),
        min_speed=Size(500),
        min_speed_span=Duration(2),
        max_header=Size(MAX_HEADER),
        max_body=Size(MAX_BODY),
    )
    found: dict[Case, Answer] = {}
    with Engine(settings) as engine:
        for case in CASES:
            engine.submit(Request(server.url(case.path, case.server), tag=case))
        while engine.in_flight:
            found.update((answer.request.tag, answer) for answer in engine.poll())
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.server}-{case.path}")
def test_a_misdeed_is_bounded_and_recorded(case: Case, answers: dict[Case, Answer]) -> None:
    answer = answers[case]
    assert (answer.error and answer.error.kind, answer.status) == (case.error, case.status), answer
    assert answer.truncated == case.truncated
    if isinstance(case.body, bytes):
        assert answer.body == case.body
    elif case.body is not None:
        assert len(answer.body) == case.body
    assert len(answer.body) <= MAX_BODY
    assert len(answer.head) <= MAX_HEADER
    assert answer.seconds < LONGEST_SECONDS


@pytest.mark.parametrize(
    "path",
    ["endless_body", "endless_chunks", "endless_headers", "endless_interim", "gzip_bomb", "unwanted_type"],
)
def test_what_never_ends_is_not_read_for_long(path: str, server: Server, answers: dict[Case, Answer]) -> None:
    with urlopen(server.url(f"~served?{path}")) as response:
        requests, sent = json.load(response)
    assert requests == 1
    assert sent < IN_TRANSIT


def test_a_redirect_is_reported_and_not_followed(server: Server, answers: dict[Case, Answer]) -> None:
    found = {case.path: answer.redirect for case, answer in answers.items() if answer.redirect}
    assert found == {
        "redirect_loop": server.url("redirect_loop"),
        "redirect?http://169.254.169.254/latest/meta-data/": "http://169.254.169.254/latest/meta-data/",
    }


def test_a_folded_header_is_one_header(answers: dict[Case, Answer]) -> None:
    (answer,) = (answer for case, answer in answers.items() if case.path == "folded_header")
    assert answer.header("x-folded") == "one two three"


def test_a_reason_names_the_bound_or_the_fault(answers: dict[Case, Answer]) -> None:
    reasons = {
        (case.server, case.path): answer.error.reason for case, answer in answers.items() if answer.error
    }
    assert "fetch.max_header" in reasons["plain", "endless_interim"]
    assert "fetch.skip_types" in reasons["plain", "unwanted_type"]
    assert "expired" in reasons["expired", "good"]
    assert "without a Location" in reasons["plain", "redirect_nowhere"]
    assert "100096 fragments of 1 bytes" in reasons["plain", "crumbs?1"]
    assert "port 25 is for smtp" in reasons["plain", "redirect?http://mail.example:25/"]
    assert all(reason.isprintable() and len(reason) < 400 for reason in reasons.values())
