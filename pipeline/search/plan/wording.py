"""What the words of a query stand for in an index: their terms, and whether they say anything.

A document is indexed by the stems of its own language, which a query does not name. So a word stands for its
stems in every language that a fair share of the documents is in, and for itself as documents of an unknown
language have it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.text.words.stems import stemmed_languages, term_of
from crawlctl.pipeline.text.words.stopwords import stop_words

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST_SHARE = 0.01  # of the documents; a language below it is mostly a wrong guess
STOP_SHARE = 0.5  # of the documents whose language is known, in which a word is a function word

# Letters and digits that stand alone are initials and numbers of figures, but these name languages.
_NAMES = frozenset("cr")


class Wording:
    """The words of an index whose documents are in these languages."""

    def __init__(self, languages: Mapping[str, int]) -> None:
        documents = sum(languages.values())
        known = {code: count for code, count in languages.items() if code}
        least = LEAST_SHARE * documents
        self.stemmed = tuple(
            sorted(code for code in known.keys() & stemmed_languages() if known[code] >= least)
        )
        self._known = {code: count for code, count in known.items() if count >= least}
        self._enough = STOP_SHARE * sum(self._known.values())

    def terms(self, word: str) -> tuple[bytes, ...]:
        """Return the terms that a token stands for, itself first."""
        found = dict.fromkeys(term_of(word, language) for language in ("", *self.stemmed))
        return tuple(found)

    def is_telling(self, word: str) -> bool:
        """Tell whether a token says what a document is about: no function word, no stray character."""
        if len(word) == 1 and word.isascii() and word not in _NAMES:
            return False
        listed = sum(count for language, count in self._known.items() if word in stop_words(language))
        return not listed or listed < self._enough
