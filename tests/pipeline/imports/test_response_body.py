from __future__ import annotations

import gzip
import tracemalloc
import zlib
from typing import TYPE_CHECKING

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.formats.zstd_module import zstd
from crawlctl.pipeline.imports.response_body import UnknownEncoding, plain_body

if TYPE_CHECKING:
    from collections.abc import Callable

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
        ("br", brotli.compress(BODY)),
        ("zstd", zstd.compress(BODY)),
        ("gzip, br", brotli.compress(gzip.compress(BODY, mtime=0))),
        ("identity", BODY),
        ("br", BODY),
        ("zstd", BODY),
        ("gzip", BODY),
    ],
)
def test_content_encodings_are_undone(encoding: str, body: bytes) -> None:
    assert plain_body(body, {"content-encoding": encoding}, 1000) == BODY


@pytest.mark.parametrize(
    ("encoding", "compress"), [("gzip", gzip.compress), ("br", brotli.compress), ("zstd", zstd.compress)]
)
def test_a_small_body_does_not_inflate_to_a_large_one(
    encoding: str, compress: Callable[[bytes], bytes]
) -> None:
    bomb = compress(bytes(10_000_000))
    tracemalloc.start()
    assert len(plain_body(bomb, {"content-encoding": encoding}, 1000)) == 1000
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("gzip", gzip.compress(BODY, mtime=0)), ("br", brotli.compress(BODY)), ("zstd", zstd.compress(BODY))],
)
def test_a_packed_body_that_was_cut_off_is_no_error(encoding: str, packed: bytes) -> None:
    for end in range(len(packed)):
        plain_body(packed[:end], {"content-encoding": encoding}, 1000)


def test_an_encoding_we_lack_is_told() -> None:
    with pytest.raises(UnknownEncoding):
        plain_body(BODY, {"content-encoding": "pack200-gzip"}, 1000)
