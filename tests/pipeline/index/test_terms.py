from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.index import terms
from crawlctl.pipeline.index.terms import FIRST_TERM, Vocabulary, pieces_of, term_of
from crawlctl.pipeline.text.tokens import tokens

LANGUAGES = ["en", "de", "zh", ""]


def words_of(vocabulary: Vocabulary, text: str, language: str) -> list[bytes]:
    numbers = vocabulary.numbers(pieces_of(text), language)
    found, places = vocabulary.sorted_terms()
    return [found[place] for place in places[numbers]]


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(), st.sampled_from(LANGUAGES)), max_size=4))
def test_terms_are_the_stems_of_the_tokens(texts: list[tuple[str, str]]) -> None:
    vocabulary = Vocabulary()
    for text, language in texts:
        assert words_of(vocabulary, text, language) == [term_of(word, language) for word in tokens(text)]


@settings(deadline=None)
@given(st.text())
def test_arrow_cuts_as_python_does(text: str) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is optional")
    cut = [piece for piece in _cut(pieces_of(text)) if piece]
    assert cut == pieces_of(text).split()


def _cut(data: bytes) -> list[bytes]:
    different, places = terms._cut_by_arrow(data)
    assert len(set(different)) == len(different)
    return [different[place] for place in places]


def test_a_large_text_has_the_same_terms_in_the_same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = random.Random(5)
    text = " ".join(
        drawn.choice(["Żółw", "running", "x_1", "東京都", "—", f"n{number}"]) for number in range(60_000)
    )
    assert len(pieces_of(text)) > terms._BULK_BYTES
    whole = words_of(Vocabulary(), text, "en")
    monkeypatch.setattr(terms, "_BULK_BYTES", 1 << 30)
    assert words_of(Vocabulary(), text, "en") == whole == [term_of(word, "en") for word in tokens(text)]


def test_a_vocabulary_that_forgets_pieces_keeps_its_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "_MAX_PIECES", 4)
    vocabulary = Vocabulary()
    first = vocabulary.numbers(b"a b c d e", "en").tolist()
    assert vocabulary.numbers(b"e a f", "en").tolist() == [first[4], first[0], FIRST_TERM + 5]


def test_long_pieces_are_forgotten_like_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "_MAX_PIECES", 1000)
    vocabulary, drawn = Vocabulary(), random.Random(3)
    for _ in range(50):
        text = "".join(map(chr, drawn.choices(range(0x4E00, 0x4E20), k=500)))
        assert words_of(vocabulary, text, "zh") == [term_of(word, "zh") for word in tokens(text)]
        assert sum(pieces.size for pieces in vocabulary._pieces.values()) < 2000


def test_terms_are_short_whatever_marks_a_letter_bears() -> None:
    (word,) = tokens("ก" + "\u0e48" * 500)
    assert len(term_of(word, "th").decode()) == 64
    assert words_of(Vocabulary(), word, "th") == [term_of(word, "th")]


def test_too_many_terms_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "MAX_TERMS", FIRST_TERM + 2)
    vocabulary = Vocabulary()
    vocabulary.numbers(b"a b", "en")
    with pytest.raises(ValueError, match="write the run"):
        vocabulary.numbers(b"c", "en")
