from __future__ import annotations

import pytest

from crawlctl.pipeline.text.words.stems import stemmed_languages
from crawlctl.pipeline.text.words.stopwords import languages, stop_words
from crawlctl.pipeline.text.words.tokens import tokens

# Languages with a stemmer and so few pages that nobody has written their words down yet, or that share them.
WITHOUT_WORDS = {"bs", "st"}


@pytest.mark.parametrize("language", languages())
def test_the_words_are_spelt_as_tokens_yields_them(language: str) -> None:
    assert [word for word in stop_words(language) if tokens(word) != [word]] == []


def test_every_stemmed_language_has_its_words() -> None:
    assert stemmed_languages() - set(languages()) == WITHOUT_WORDS


def test_an_unknown_language_has_none() -> None:
    assert stop_words("xx") == frozenset()


def test_contractions_leave_stop_words_only() -> None:
    assert set(tokens("don't won't I'll they've it's she'd I'm you're isn't")) <= stop_words("en")


@pytest.mark.parametrize("word", ["not", "no", "python", "search", "new", "first"])
def test_words_that_mean_something_are_not_among_them(word: str) -> None:
    assert word not in stop_words("en")
