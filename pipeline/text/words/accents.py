"""Spells a word without its accents, as many people type it: `réseau` as `reseau`, `œuvre` as `oeuvre`.

An index has these spellings beside the word itself. So a query without accents finds both, and a query with
accents finds only what is spelled with them. Letters with a sign that a language counts as letters of its own
are kept: in Swedish, `får` (sheep) is not `far` (father). A German umlaut is typed in two ways: `Müller` is
`muller` and `mueller`. Only Latin and Greek letters and the Russian ё have accents; the marks of other
scripts are vowels or tones, without which it would be another word.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category, normalize

# In UTF-8, a text without any of these bytes has no letter with an accent.
HAS_ACCENTS = re.compile(rb"[\xc3-\xc9\xce\xcf]|\xd1\x91|\xe1[\xb8-\xbf]")

# Letters that Unicode does not take apart.
_OTHER_LETTERS = {"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "ё": "е"}
_KEPT = {
    "da": "æøå",
    "es": "ñ",
    "et": "äõöü",
    "fi": "åäö",
    "is": "æðöþ",
    "nb": "æøå",
    "nn": "æøå",
    "no": "æøå",
    "sv": "åäö",
}
_TWO_LETTERS = {"de": {"ä": "ae", "ö": "oe", "ü": "ue"}}


def unaccented(word: str, language: str) -> tuple[str, ...]:
    """Return the other spellings of a folded word without accents; none if it has no accents."""
    if word.isascii():
        return ()
    kept, two = _KEPT.get(language, ""), _TWO_LETTERS.get(language, {})
    spelled = "".join([letter if letter in kept else _base(letter) for letter in word])
    umlauts = "".join([two.get(letter) or _base(letter) for letter in word]) if two else spelled
    return tuple(form for form in dict.fromkeys((spelled, umlauts)) if form != word)


@lru_cache(maxsize=1 << 12)
def _base(letter: str) -> str:
    """Return a letter without its accent; a letter of another script as it is."""
    if letter in _OTHER_LETTERS:
        return _OTHER_LETTERS[letter]
    apart = normalize("NFD", letter)
    latin_or_greek = apart < "\u0250" or "\u0370" <= apart < "\u0400"
    return apart[0] if latin_or_greek and all(category(mark) == "Mn" for mark in apart[1:]) else letter
