from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.imports.bodies import UnknownEncoding, plain_body

BODY = b"<p>Hello</p>" * 20
CHUNKED = {"transfer-encoding": "chunked"}


def chunked(body: bytes, size: int) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x;x=y\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


@given(st.binary(max_size=500), st.integers(1, 200))
def test_chunks_are_joined(body: bytes, size: int) -> None:
    assert plain_body(chunked(body, size), CHUNKED, 1000) == body


@pytest.mark.parametrize(
    "body", [BODY, b"\r\nno size", b"ffffffffffffffffff\r\n"], ids=["text", "line", "number"]
)
def test_a_body_that_was_stored_without_its_chunks_is_left_alone(body: bytes) -> None:
    assert plain_body(body, CHUNKED, 1000) == body


def test_a_body_cut_off_within_a_chunk_is_taken_as_far_as_it_goes() -> None:
    assert plain_body(chunked(BODY, 100)[:150], CHUNKED, 1000) == BODY[:132]


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(BODY, mtime=0)),
        ("GZip", gzip.compress(BODY, mtime=0)),
        ("deflate", zlib.compress(BODY)),
        ("deflate", zlib.compress(BODY)[2:-4]),
        ("gzip, deflate", zlib.compress(gzip.compress(BODY, mtime=0))),
        ("identity", BODY),
        ("gzip", BODY),
    ],
    ids=["gzip", "capitals", "deflate", "raw deflate", "both", "identity", "not compressed after all"],
)
def test_content_encodings_are_undone(encoding: str, body: bytes) -> None:
    assert plain_body(body, {"content-encoding": encoding}, 1000) == BODY


def test_a_small_body_does_not_inflate_to_a_large_one() -> None:
    bomb = gzip.compress(bytes(10_000_000))
    assert len(plain_body(bomb, {"content-encoding": "gzip"}, 1000)) == 1000


def test_an_encoding_we_lack_is_told() -> None:
    with pytest.raises(UnknownEncoding):
        plain_body(BODY, {"content-encoding": "br"}, 1000)
