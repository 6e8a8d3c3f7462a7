from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawlctl.pipeline.index.building.inversion import marked, utf8_of_kept
from crawlctl.pipeline.index.segment.stored_documents import Document


@given(st.text(st.characters() | st.sampled_from("\ud800\udfff")))
@example("a\ud800\u00e9")
def test_a_text_is_encoded_with_question_marks_for_halves_of_pairs(text: str) -> None:
    assert bytes(utf8_of_kept(text)) == text.encode("utf-8", "replace")


@pytest.mark.parametrize("size", [0, 1, 31, 32, 255, 256, 65_535, 65_536, 100_000])
@pytest.mark.parametrize("letter", ["x", "\u00e9", "\u6771"])
def test_texts_of_all_sizes_are_encoded(size: int, letter: str) -> None:
    text = letter * (size // len(letter.encode())) + "-" * (size % len(letter.encode()))
    assert bytes(utf8_of_kept(text)) == text.encode()
    assert len(text.encode()) == size


def test_the_end_of_each_field_is_marked() -> None:
    document = Document("http://a.org/%C3%A9", "t\u00e9", ("one", "two"), "body \udc00")
    assert marked(document).split(b"\xff") == [
        b"body ? ",
        b" one \xfe two ",
        " t\u00e9 ".encode(),
        " a.org/\u00e9 ".encode(),
        b" ",
    ]
