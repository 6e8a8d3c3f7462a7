from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.index.building import vocabulary as terms
from crawlctl.pipeline.index.building.vocabulary import (
    BREAK_NUMBER,
    FIELD_END_NUMBER,
    FIRST_TERM,
    Vocabulary,
)
from crawlctl.pipeline.text.words.accents import unaccented
from crawlctl.pipeline.text.words.stems import form_of, term_of
from crawlctl.pipeline.text.words.tokens import parts_in, tokens

LANGUAGES = ["en", "de", "zh", ""]


def words_of(vocabulary: Vocabulary, text: str, language: str) -> list[bytes]:
    numbers = vocabulary.numbers(text.encode("utf-8", "replace"), language)
    found, places = vocabulary.sorted_terms()
    return [found[place] for place in places[numbers]]


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(), st.sampled_from(LANGUAGES)), max_size=4))
def test_terms_are_the_stems_of_the_tokens(texts: list[tuple[str, str]]) -> None:
    vocabulary = Vocabulary()
    for text, language in texts:
        assert words_of(vocabulary, text, language) == [term_of(word, language) for word in tokens(text)]


@settings(deadline=None)
@given(
    st.lists(
        st.text("aB_1 .é", max_size=9) | st.sampled_from(["curve_fit", "readCsv", "東京", "l’été", "aB_aB"]),
        max_size=8,
    ).map(" ".join),
    st.sampled_from(LANGUAGES),
)
def test_parts_of_identifiers_and_words_without_accents_lie_beside_words(text: str, language: str) -> None:
    vocabulary = Vocabulary()
    for _ in range(2):  # the second time all chunks are known
        beside = vocabulary.terms(text.encode(), language).beside
        found, places = vocabulary.sorted_terms()
        terms = [found[place] for place in places[beside.numbers]]
        positions = (beside.words + beside.offsets).tolist()
        parts = [(at + number, part) for at, some in parts_in(text) for number, part in enumerate(some)]
        plain = [(at, other) for at, word in enumerate(tokens(text)) for other in unaccented(word, language)]
        assert sorted(zip(positions, terms, strict=True)) == sorted(
            (at, form_of(word, language)) for at, word in (*parts, *plain)
        )


def test_a_large_text_has_the_same_terms_in_the_same_order() -> None:
    drawn = random.Random(5)
    text = " ".join(
        drawn.choice(["Żółw", "running", "x_1", "東京都", "—", "_a_", "x" * 70, f"n{number}"])
        for number in range(60_000)
    )
    assert words_of(Vocabulary(), text, "en") == [term_of(word, "en") for word in tokens(text)]


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(st.text("ab", min_size=1, max_size=40), st.text("ab\u00e9\u0416\U00020001", min_size=1))
    )
)
def test_terms_are_sorted_by_their_bytes(words: list[str]) -> None:
    vocabulary = Vocabulary()
    vocabulary.numbers(" ".join(words).encode(), "")
    found, places = vocabulary.sorted_terms()
    written = tokens(" ".join(words))
    assert found.tolist() == sorted(
        {term_of(form, "") for word in written for form in (word, *unaccented(word, ""))}
    )
    assert sorted(places[FIRST_TERM:].tolist()) == list(range(len(found)))


def test_marks_are_told_from_words() -> None:
    found = Vocabulary().numbers(b"a \xfe a \xff \xfe", "en").tolist()
    assert found == [FIRST_TERM, BREAK_NUMBER, FIRST_TERM, FIELD_END_NUMBER, BREAK_NUMBER]


def test_a_vocabulary_that_forgets_chunks_keeps_its_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = Vocabulary()
    first = vocabulary.numbers(b"a b c d e", "en").tolist()
    monkeypatch.setattr(terms, "_MAX_CHUNKS_BYTES", 0)
    known, again, new = vocabulary.numbers(b"e a f", "en").tolist()
    assert [known, again] == [first[4], first[0]]
    assert new not in first


def test_long_chunks_are_forgotten_like_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary, drawn = Vocabulary(), random.Random(3)
    vocabulary.numbers(b"a", "zh")
    limit = vocabulary.memory + 100_000
    monkeypatch.setattr(terms, "_MAX_CHUNKS_BYTES", limit)
    for _ in range(50):
        text = "".join(map(chr, drawn.choices(range(0x4E00, 0x4E20), k=5000)))
        assert words_of(vocabulary, text, "zh") == [term_of(word, "zh") for word in tokens(text)]
        assert sum(chunks.memory for chunks in vocabulary._chunks.values()) < limit + 100_000


def test_terms_are_short_whatever_marks_a_letter_bears() -> None:
    (word,) = tokens("ก" + "\u0e48" * 500)
    assert len(term_of(word, "th").decode()) == 64
    assert words_of(Vocabulary(), word, "th") == [term_of(word, "th")]


def test_too_many_terms_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "MAX_TERMS", FIRST_TERM + 4)  # two words, as they are written and as stems
    vocabulary = Vocabulary()
    vocabulary.numbers(b"a b", "en")
    with pytest.raises(ValueError, match="write the run"):
        vocabulary.numbers(b"c", "en")
