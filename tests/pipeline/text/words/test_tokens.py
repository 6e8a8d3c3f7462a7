from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.text.words.tokens import (
    MAX_CHARACTERS,
    TO_CHUNKS,
    folded,
    parts_in,
    parts_of,
    tokens,
    tokens_of_chunk,
    words_of,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", "hello world"),
        ("STRASSE Straße", "strasse strasse"),
        ("ﬁne ＡＢＣ x² ½", "fine abc x2 1 2"),
        ("l'arbre l’arbre John's o'neill", "l arbre l arbre john s o neill"),
        ("read_csv __init__ _x_ _ a__b", "read_csv init x a__b"),
        ("3.14 1,000 v2 2024-01-02", "3 14 1 000 v2 2024 01 02"),
        ("C++ C# .NET f#, (c++)", "c++ c# .net f# c++"),
        ("naïve café CAFÉ", "naïve café café"),
        ("cafe\u0301", "café"),
        ("co\u00adoperate a\u200bb می\u200cخواهم", "cooperate a b میخواهم"),
        ("İstanbul ISTANBUL", "istanbul istanbul"),
        ("ΛΌΓΟΣ λόγος", "λόγοσ λόγοσ"),
        ("Привет, МИР", "привет мир"),
        ("हिन्दी भाषा।", "हिन्दी भाषा"),
        ("שָׁלוֹם", "שָׁלוֹם"),
        ("日本語", "日本 本語"),
        ("日", "日"),
        ("日 本", "日 本"),
        ("Python3入門。", "python3 入門"),
        ("カタカナ ｶﾀｶﾅ", "カタ タカ カナ カタ タカ カナ"),
        ("한국어 문서", "한국 국어 문서"),
        ("ภาษา", "ภา าษ ษา"),
        ("น้ำ", "น้\u0e4dา"),
        ("𠮷野家", "𠮷野 野家"),
        ("a—b…c“d”", "a b c d"),
        ("user@example.com http://x.org/a?b", "user example com http x org a b"),
        ("😀 © ™", "tm"),
        ("", ""),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()


def test_a_long_word_counts_by_its_beginning() -> None:
    assert tokens("A" * 1000) == ["a" * MAX_CHARACTERS]
    assert tokens("é" * 1000) == ["é" * MAX_CHARACTERS]
    assert tokens("x" * (MAX_CHARACTERS - 1) + "_y") == ["x" * (MAX_CHARACTERS - 1)]


TEXTS = st.text(
    st.sampled_from("aZ09_ '.,-<=\n")
    | st.sampled_from("éßİﬁ\u0301\u0307\u00ad\u200d日本カあ한ไทหि\u0338’…\u3000²")
    | st.characters()
)


@given(TEXTS)
def test_pieces_and_whole_give_the_same_words(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    assert tokens(text) == words_of(folded(text))


@given(TEXTS)
def test_pieces_cut_in_bulk_give_the_same_words(text: str) -> None:
    chunks = text.encode("utf-8", "replace").translate(TO_CHUNKS).split(b" ")
    assert tokens(text) == [word for chunk in chunks for word in tokens_of_chunk(chunk)]


@given(TEXTS, TEXTS, st.sampled_from(" \n.,;:!?'\"()[]{}<>/\\|@#$%^&*+=~`-\t\0"))
def test_no_word_spans_a_separator(one: str, other: str, separator: str) -> None:
    assert tokens(one + separator + other) == tokens(one) + tokens(other)


@given(TEXTS)
def test_words_are_words_again(text: str) -> None:
    for word in tokens(text):
        assert word
        assert tokens(word) == [word]


@given(TEXTS)
def test_folding_is_done_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(st.text())
def test_case_does_not_count(text: str) -> None:
    assert tokens(text.upper()) == tokens(text.upper().casefold())


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("curve_fit", "curve fit"),
        ("wide_to_long", "wide to long"),
        ("QNetworkAccessManager", "q network access manager"),
        ("HTTPServerError", "http server error"),
        ("getElementById", "get element by id"),
        ("utf8Decode_all", "utf8decode all"),
        ("a_b_c_d_e_f_g_h_i_j", "a b c d e f g h_i_j"),
        ("__init__", ""),
        ("JavaScript", ""),  # who looks for java does not want it
        ("GitHub", ""),
        ("URLs", ""),
        ("plain", ""),
        ("déjà_vu", ""),
    ],
)
def test_an_identifier_has_parts_and_a_name_has_none(name: str, parts: str) -> None:
    assert parts_of(name.encode()) == tuple(parts.split())


def test_identifiers_are_found_with_their_positions() -> None:
    assert parts_in("C# in l'arbre: np.curve_fit or readCsv") == [
        (5, ("curve", "fit")),
        (7, ("read", "csv")),
    ]
    assert parts_in("no identifier") == []
