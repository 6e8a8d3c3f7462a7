"""The ways in which a word of a query can be read: as it is, by its parts, joined, or split.

What people type as one word, documents may have in another spelling. A reading is a sequence of words that
stand side by side; a page matches a word if it has one of its readings. The word as it is comes first.

    curve_fit     also curve fit; a page with the identifier has both and so comes first
    utf-8, e-mail also utf8, email
    utf8, mp3     also utf 8, mp 3
    email         also e mail, as e-mail is cut
    C++, cpp      also cpp, C++: in URLs, and where signs cannot be typed
    2.1.6, v2.1.6 also v2.1.6, 2.1.6
"""

from __future__ import annotations

import re
from functools import lru_cache

from crawlctl.pipeline.text.words.tokens import parts_in, tokens

_MAX_REMEMBERED = 64  # characters
_MAX_JOINED = 3  # the most parts of a hyphened word that are joined into one word
_SHORT = 1  # one of the parts has at most this many characters; longer parts are rarely written together
_HYPHENS = re.compile(r"(?<=\w)[-\u2010\u2011](?=\w)")
_NUMBERED = re.compile(r"([a-z]{2,})([0-9]{1,3})")
_HYPHENED = {"email": ("e", "mail"), "emails": ("e", "mails")}
_WITHOUT_SIGNS = {"c++": "cpp", "c#": "csharp", "f#": "fsharp", ".net": "dotnet"}
_SPELLED = {
    **_HYPHENED,
    **{signed: (plain,) for signed, plain in _WITHOUT_SIGNS.items()},
    **{plain: (signed,) for signed, plain in _WITHOUT_SIGNS.items()},
}
_VERSION = re.compile(r"(v?)([0-9]+)(?:\.[0-9]+)+", re.IGNORECASE)

Reading = tuple[str, ...]


def readings_of(text: str) -> tuple[Reading, ...]:
    """Return the readings of a word as it was typed; the unchanged word is first."""
    return _remembered(text) if len(text) <= _MAX_REMEMBERED else _read(text)


@lru_cache(maxsize=4096)
def _remembered(text: str) -> tuple[Reading, ...]:
    """Return the readings of a short word: a process that answers many queries meets the same words again."""
    return _read(text)


def _read(text: str) -> tuple[Reading, ...]:
    words = tuple(tokens(text))
    found = [words, _by_parts(text, words)]
    if 1 < len(words) <= _MAX_JOINED and min(map(len, words)) <= _SHORT and _HYPHENS.search(text):
        found.append(tuple(tokens(_HYPHENS.sub("", text))))
    if len(words) == 1:
        numbered = _NUMBERED.fullmatch(words[0])
        found.append((numbered[1], numbered[2]) if numbered else _SPELLED.get(words[0], words))
    if version := _VERSION.fullmatch(text):
        found.append((version[2] if version[1] else f"v{version[2]}", *words[1:]))
    return tuple(dict.fromkeys(found))


def _by_parts(text: str, words: Reading) -> Reading:
    """Return the words; identifiers are replaced by their parts."""
    parts = dict(parts_in(text))
    return tuple(part for index, word in enumerate(words) for part in parts.get(index, (word,)))
