from __future__ import annotations

import pytest

from crawlctl.pipeline.search.plan.lexicon import WordTerms


def test_a_word_stands_for_itself_and_its_stem_in_each_language_of_the_index() -> None:
    assert set(WordTerms({"en": 50, "de": 50}).terms("houses")) == {b"houses", b"hous"}
    assert set(WordTerms({"en": 50, "de": 50}).terms("häuser")) == {"häuser".encode(), b"haus"}


def test_languages_of_few_documents_do_not_count() -> None:
    assert WordTerms({"en": 991, "de": 9}).stemmed == ("en",)
    assert WordTerms({"en": 990, "de": 10}).stemmed == ("de", "en")


def test_languages_without_a_stemmer_and_unknown_ones_leave_words_as_they_are() -> None:
    assert WordTerms({"zh": 90, "": 10}).terms("houses") == (b"houses",)
    assert WordTerms({}).terms("houses") == (b"houses",)


@pytest.mark.parametrize(
    ("languages", "word", "is_telling"),
    [
        ({"en": 10}, "the", False),
        ({"en": 10}, "tree", True),
        ({"en": 90, "de": 10}, "die", True),  # what the German article means to most documents
        ({"en": 10, "de": 90}, "die", False),
        ({"": 10}, "the", True),
        ({"en": 10, "": 90}, "the", False),
    ],
)
def test_function_words_of_most_documents_tell_nothing(
    languages: dict[str, int], word: str, is_telling: bool
) -> None:
    assert WordTerms(languages).is_telling(word) is is_telling


def test_single_characters_tell_nothing_unless_they_name_a_language_or_are_a_word() -> None:
    wording = WordTerms({"en": 10})
    assert [wording.is_telling(word) for word in ("x", "7", "c", "r", "東")] == [
        False,
        False,
        True,
        True,
        True,
    ]
