from __future__ import annotations

import re
from itertools import islice

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawlctl.pipeline.text.words.token_arrays import chunks_of, words_of_chunks
from crawlctl.pipeline.text.words.tokens import TO_CHUNKS, _cut, tokens_of_chunk

PIECE = st.text(
    st.sampled_from("aZ09_")
    | st.sampled_from("éßİﬁ\u0301\u0307\u00ad\u200d日本カあ한ไทหि\u0338’…\u3000²¶")
    | st.characters()
).map(lambda text: text.encode("utf-8", "replace").translate(TO_CHUNKS).replace(b" ", b""))


def words_of(chunks: list[bytes]) -> list[tuple[str, ...] | None]:
    """The words of each chunk, None where it is refused."""
    words, counts, refused = words_of_chunks(b"".join(chunk + b" " for chunk in chunks))
    found = iter(words.decode().split())
    each = [tuple(islice(found, count)) for count in counts]
    assert not list(found)
    assert not any(words for words, no in zip(each, refused, strict=True) if no)
    return [None if no else words for words, no in zip(each, refused, strict=True)]


@given(st.lists(st.binary() | st.text().map(str.encode)).map(b" ".join))
@example(bytes(range(256)))
@example(bytes(byte for one in range(256) for byte in (97, one, 98, 32)))
@example(b"C++ c# F# .NET c++11 objc++ c#5 a.net ..net .nett c+ + xf# c+++ .net.c# #c c#")
@example(b"readCsv Read_CSV CSVRead \xc3\xa9tE xA")
def test_a_text_has_the_chunks_that_tokens_cuts(data: bytes) -> None:
    chunks = chunks_of(data)
    cut = _cut(data).split()
    assert [chunk.lower() for chunk in chunks] == cut
    assert len(chunks.padded().octets) == len(chunks.octets)
    at, lower = 0, data.lower()
    for chunk, expected in zip(chunks.tolist(), cut, strict=True):
        at = lower.index(expected, at)
        written = data[at : at + len(chunk)]
        assert chunk == (written if re.search(rb"[a-z][A-Z]", written) else expected)
        at += len(chunk)


@given(st.lists(PIECE))
def test_many_chunks_have_the_words_of_each(chunks: list[bytes]) -> None:
    for chunk, words in zip(chunks, words_of(chunks), strict=True):
        assert words is None or words == tokens_of_chunk(chunk)


@pytest.mark.parametrize(
    "text",
    [
        "straße",
        "东京都的",
        "ａｂｃ",
        "“d1”",
        "_x_",
        "__",
        "a__b¶",
        "日_本",
        "ไทย",
        "x" * 70,
        "a" * 63 + "__b",
    ],
)
def test_common_pieces_are_not_refused(text: str) -> None:
    chunk = text.encode().translate(TO_CHUNKS)
    assert words_of([b"a", chunk, b"\xff", b"b"]) == [("a",), tokens_of_chunk(chunk), (), ("b",)]


@pytest.mark.parametrize(
    "text",
    [
        "\u1100\u1161\u11a8",
        "가\u11a8",
        "e\u0301\u0323",
        "\u0928\u093c",
        "\u0f40\u0fb5",
        "𑂙\U000110ba",
        "ǰ̣",
        "I\u0307",
        "\ufa6c",  # folds to a character beyond the first plane
        "\uffff",
    ],
)
def test_letters_that_compose_are_left_to_a_closer_look(text: str) -> None:
    assert words_of([b"a", text.encode(), b"b"]) == [("a",), None, ("b",)]


def test_characters_of_all_kinds_alone_have_their_words() -> None:
    points = (*range(0x80, 0xD800, 7), *range(0xE000, 0x11000, 7))
    chunks = [chr(point).encode() for point in points]
    for chunk, words in zip(chunks, words_of(chunks), strict=True):
        assert words is None or words == tokens_of_chunk(chunk)
