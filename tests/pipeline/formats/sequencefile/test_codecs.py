from __future__ import annotations

import bz2
import gzip
import tracemalloc
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.formats.sequencefile.codecs import CODECS, STORED, codec_of_class

if TYPE_CHECKING:
    from collections.abc import Callable

PEERS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "default": (zlib.compress, zlib.decompress),
    "deflate": (zlib.compress, zlib.decompress),
    "gzip": (gzip.compress, gzip.decompress),
    "bzip2": (bz2.compress, bz2.decompress),
}
names = pytest.mark.parametrize("name", CODECS)


@given(st.sampled_from(sorted(CODECS)), st.binary())
def test_streams_are_those_of_the_standard_library(name: str, data: bytes) -> None:
    compress, decompress = PEERS[name]
    assert decompress(CODECS[name].compress(data)) == data
    assert CODECS[name].decompress(memoryview(compress(data)), len(data)) == data


@names
def test_a_class_of_hadoop_finds_its_codec(name: str) -> None:
    assert codec_of_class(CODECS[name].class_name) is CODECS[name]
    assert CODECS[name].class_name.startswith("org.apache.hadoop.io.compress.")


def test_a_codec_we_lack_is_refused() -> None:
    with pytest.raises(ValueError, match=r"SnappyCodec is none of default, deflate, gzip, bzip2"):
        codec_of_class("org.apache.hadoop.io.compress.SnappyCodec")


@names
def test_a_stream_cut_anywhere_is_refused(name: str) -> None:
    stream = CODECS[name].compress(b"some text, some more text" * 20)
    for length in range(1, len(stream)):
        with pytest.raises(ValueError, match=r"cut off|not a"):
            CODECS[name].decompress(stream[:length], 1 << 20)


@names
def test_a_stream_of_nonsense_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"not a {name} stream"):
        CODECS[name].decompress(b"nonsense, and no header of anything", 1 << 20)


@names
def test_a_changed_byte_never_gives_other_data(name: str) -> None:
    data = b"some text, some more text" * 20
    stream = CODECS[name].compress(data)
    for at in range(len(stream)):
        changed = stream[:at] + bytes([stream[at] ^ 0x55]) + stream[at + 1 :]
        try:
            assert CODECS[name].decompress(changed, 1 << 20) == data
        except ValueError:
            continue


@names
def test_the_limit_is_exact(name: str) -> None:
    stream = CODECS[name].compress(b"x" * 1000)
    assert CODECS[name].decompress(stream, 1000) == b"x" * 1000
    with pytest.raises(ValueError, match="more than 999 bytes"):
        CODECS[name].decompress(stream, 999)
    with pytest.raises(ValueError, match="more than 0 bytes"):
        CODECS[name].decompress(stream, 0)


@names
def test_a_bomb_costs_no_more_than_its_limit(name: str) -> None:
    bomb = PEERS[name][0](bytes(100 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="inflates to more than"):
            CODECS[name].decompress(bomb, 1 << 20)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_nothing_stands_for_nothing() -> None:
    assert CODECS["default"].decompress(b"", 0) == b""


def test_stored_data_obey_the_limit_too() -> None:
    assert STORED.decompress(memoryview(b"abc"), 3) == b"abc"
    with pytest.raises(ValueError, match="more than 2 bytes"):
        STORED.decompress(b"abc", 2)
