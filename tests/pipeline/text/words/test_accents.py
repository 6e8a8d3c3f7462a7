from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.text.words.accents import HAS_ACCENTS, unaccented
from crawlctl.pipeline.text.words.tokens import folded


@pytest.mark.parametrize(
    ("word", "language", "others"),
    [
        ("réseau", "fr", ["reseau"]),
        ("œuvre", "fr", ["oeuvre"]),
        ("münchen", "de", ["munchen", "muenchen"]),
        ("münchen", "en", ["munchen"]),
        ("får", "sv", []),
        ("får", "en", ["far"]),
        ("año", "es", []),
        ("canción", "es", ["cancion"]),
        ("ørsted", "da", []),
        ("ørsted", "en", ["orsted"]),
        ("łódź", "pl", ["lodz"]),
        ("ёлка", "ru", ["елка"]),
        ("мой", "ru", []),  # й is a letter, no accent
        ("αθήνα", "el", ["αθηνα"]),
        ("việt", "vi", ["viet"]),
        ("हिन्दी", "hi", []),
        ("日本", "ja", []),
        ("plain", "fr", []),
    ],
)
def test_words_lose_accents_that_people_leave_out(word: str, language: str, others: list[str]) -> None:
    assert unaccented(folded(word), language) == tuple(others)


@given(st.text(min_size=1).map(folded), st.sampled_from(["", "de", "fr", "sv"]))
def test_only_words_that_look_like_it_have_accents(word: str, language: str) -> None:
    if unaccented(word, language):
        assert HAS_ACCENTS.search(word.encode())
