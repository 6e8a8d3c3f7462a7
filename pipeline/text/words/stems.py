"""Reduces words to stems with the Snowball algorithm of their language, for indexing and for querying.

PyStemmer runs Snowball's own C code. nltk's Snowball is a Python rewrite of an older version: it is twenty
times slower and gives other stems for some words. So the two must never be mixed, and an index that was built
with one version of Snowball may miss words when it is queried with another.

An index term is a stem with a mark that names the language whose algorithm made it, because stems of two
languages collide: to French, `shower` is a form of `show`, which in an English page is another word. A word
of a language without an algorithm has no mark, and a number has none in any language. A mark begins with a
byte below all letters, so the terms of one stem are neighbours in the dictionary.

A word as it is written is a term of its own beside its stem, its *form*, with another mark. Prefixes such as
`configurati*` and words in quotes ask for forms. A number has none, nor has an identifier such as `utf8` that
is its own stem: its term says as much. In a language without an algorithm every term is a word as it is
written.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.text.words.tokens import MAX_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The languages by their ISO 639-1 code. The Serbian stemmer reads both alphabets, so it serves Croatian and
# Bosnian too.
_ALGORITHMS = {
    "ar": "arabic",
    "bs": "serbian",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hr": "serbian",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
_MAX_REMEMBERED = 1 << 16
STEM_MARK = b"\x01"  # no word has it
FORM_MARK = b"\x02"  # no word has it


def stem(word: str, language: str) -> str:
    """Return the stem of a word that `tokens` yields; without a stemmer for the language, the word itself."""
    return stemmer(language)(word)


def term_of(word: str, language: str) -> bytes:
    """Return the index term of a word as `tokens` yields it: its marked stem in UTF-8."""
    return marked_stem(bare_term(word, language), language)


def bare_term(word: str, language: str) -> bytes:
    """Return the stem of a word, cut at 64 characters, in UTF-8 and without a mark."""
    return stemmer(language)(word)[:MAX_CHARACTERS].encode()


def marked_stem(stem: bytes, language: str) -> bytes:
    """Return the index term of a stem of a language."""
    return stem if stem.isdigit() else stem + mark_of(language)


def mark_of(language: str) -> bytes:
    """Return the mark behind the stems of a language; empty for a language without a stemmer."""
    return STEM_MARK + language.encode() if language in _ALGORITHMS else b""


def stem_in(term: bytes) -> bytes:
    """Return an index term without its mark: the stem, or the word of a form."""
    if term.startswith(STEM_MARK):
        return term
    return term.partition(STEM_MARK)[0].partition(FORM_MARK)[0]


def form_of(word: str, language: str) -> bytes:
    """Return the term of a word as it is written: its form, or its only term if it has no form."""
    cut = word[:MAX_CHARACTERS].encode()
    found = forms([cut], [bare_term(word, language)], language)[0]
    return found or marked_stem(cut, language)


def forms(words: Sequence[bytes], stems: Sequence[bytes], language: str) -> list[bytes]:
    """Return the form of each word of a language, given its stem; empty for a word without a form."""
    if language not in _ALGORITHMS:
        return [b""] * len(words)
    mark = FORM_MARK + language.encode()
    return [
        word + mark if word != stem or _has_only_letters(word) else b""
        for word, stem in zip(words, stems, strict=True)
    ]


def _has_only_letters(word: bytes) -> bool:
    return word.isalpha() or (not word.isascii() and word.decode("utf-8", "replace").isalpha())


def is_form(term: bytes) -> bool:
    """Return whether a term is a form; keywords, which begin with a mark, are not."""
    return FORM_MARK in term and not term.startswith(STEM_MARK)


def stems(words: Sequence[bytes], language: str) -> list[bytes]:
    """Return the stems of many words in UTF-8; twice as fast as one by one if all words differ."""
    algorithm = _ALGORITHMS.get(language)
    if algorithm is None:
        return list(words)
    found: list[bytes] = _algorithm(algorithm).stemWords(words)
    # For some Greek and Nepali words the algorithm returns an empty stem.
    return [stem or word for stem, word in zip(found, words, strict=True)] if b"" in found else found


@lru_cache(maxsize=64)
def stemmer(language: str) -> Callable[[str], str]:
    """Return the function from words to stems for a language given by its ISO 639-1 code."""
    algorithm = _ALGORITHMS.get(language)
    return str if algorithm is None else _Stems(algorithm).__getitem__


def stemmed_languages() -> frozenset[str]:
    """Return the languages that have a stemmer."""
    return frozenset(_ALGORITHMS)


@lru_cache(maxsize=64)
def _algorithm(name: str) -> Any:
    import Stemmer

    # 0 turns off its own cache of ten thousand words, which is slower than ours.
    return Stemmer.Stemmer(name, 0)


class _Stems(dict[str, str]):
    """The stems of the words met so far, for the life of the process; it is emptied when it is full."""

    def __init__(self, algorithm: str) -> None:
        self._stem = _algorithm(algorithm).stemWord

    def __missing__(self, word: str) -> str:
        if len(self) >= _MAX_REMEMBERED:
            self.clear()
        found: str = self._stem(word) or word
        self[word] = found
        return found
