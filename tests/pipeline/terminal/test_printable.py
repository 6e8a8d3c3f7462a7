from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.terminal.printable import blanked, escaped, escaped_json

CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))]
BIDI = list("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
STEERING = [*CONTROLS, *BIDI, "\u2028", "\u2029", "\ud800", "\udfff", "\ufeff", "\U000e0041"]


@pytest.mark.parametrize("one", STEERING, ids=lambda one: f"U+{ord(one):04X}")
def test_what_steers_a_terminal_is_replaced(one: str) -> None:
    assert blanked(f"a{one}b") == "a b"
    assert escaped(f"a{one}b").isprintable()
    assert escaped(f"a{one}b").encode().decode("unicode_escape") == f"a{one}b"


@pytest.mark.parametrize("text", ["", "plain", "Füße, 日本, नमस्ते", "کتاب\u200cها", "👩\u200d🚀"])
def test_what_people_write_stays(text: str) -> None:
    assert blanked(text) == escaped(text) == text
    assert escaped_json(msgspec.json.encode(text).decode()) == f'"{text}"'


def test_line_ends_stay_where_they_are_wanted() -> None:
    assert escaped("a\n\tb\r\x1b", keep="\n\t") == "a\n\tb\\r\\x1b"


@given(st.text())
def test_a_blanked_text_has_its_length(text: str) -> None:
    assert len(blanked(text)) == len(text)


@given(st.text(st.characters() | st.sampled_from([*CONTROLS, *BIDI])))
def test_escaped_json_means_the_same_and_is_printable(text: str) -> None:
    for document in (msgspec.json.encode({text: [text]}), msgspec.json.format(msgspec.json.encode([text]))):
        safe = escaped_json(document.decode())
        assert json.loads(safe) == msgspec.json.decode(safe) == msgspec.json.decode(document)
        assert all(one in "\n\u200c\u200d" or one.isprintable() for one in safe)
