r"""Cuts a text into words (tokens), the same for indexing and for querying.

* Case, width and compatibility forms do not count (NFKC and case folding: `Straße` and `STRASSE` are one
  word, `ﬁ` is `fi`), nor do invisible characters (soft hyphen, joiners). Accents do count.
* A word is a sequence of letters, digits and their marks, in any script. An underscore joins within a word
  and is dropped at its ends (`read_csv`, `init`). All other characters separate words, the apostrophe too:
  people search for the parts of `l'arbre` and `John's`, in every language.
* Scripts without spaces between words (Chinese, Japanese, Thai, …; Korean too, whose particles are attached
  to the word) yield overlapping pairs of characters, or a single character if it has no neighbour.
* Only the first 64 characters of a word count.
* `C++`, `C#`, `F#` and `.NET` are words, because only their signs distinguish them from `c`, `f` and `net`.

An identifier is a word, and an index also has its parts, so that `curve fit` finds `curve_fit` and `network
access manager` finds `QNetworkAccessManager` (`parts_of`). Names such as JavaScript or GitHub have no parts:
nobody who looks for `java` or `hub` wants them. So a name with capitals inside is an identifier only if it
begins with a small letter or has three parts.

No word spans an ASCII separator. So C code can cut a text there into chunks, and the words of each distinct
chunk are found once: that makes `tokens` as fast as a bare `\w+`, which follows none of these rules. The
builder of an index does the same in bulk (token_arrays.py).
"""

from __future__ import annotations

import re
from itertools import chain, pairwise
from typing import TYPE_CHECKING
from unicodedata import category, normalize

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_CHARACTERS = 64

# A table for bytes.translate: ASCII letters in lower case, ASCII separators as spaces, other bytes as they
# are.
TO_CHUNKS = bytes(
    byte if byte >= 128 or chr(byte).isalnum() or byte == 95 else 32 for byte in range(256)
).lower()

MAX_PARTS = 8  # the most parts of an identifier; the rest of a longer identifier is not split

# The names with a sign, and the characters that may not stand next to them.
_SIGNED = re.compile(rb"(?<![0-9a-z_\x80-\xff+#.])(?:c\+\+|[cf]#|\.net)(?![0-9a-z_\x80-\xff+#])")
_SIGNS = b"+#."
_HUMP = re.compile(rb"[a-z][A-Z]")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
_LEAST_HUMPS = 3  # the fewest parts of an identifier that begins with a capital

_MAX_REMEMBERED = 1 << 16
_MAX_REMEMBERED_BYTES = 48

# Scripts without spaces between words: Thai and Lao, Myanmar, Khmer, kana, bopomofo, Hangul, Chinese
# characters.
UNSPACED = (
    *(
        (0x0E01, 0x0E30),
        (0x0E32, 0x0E33),
        (0x0E40, 0x0E46),
        (0x0E81, 0x0EB0),
        (0x0EB2, 0x0EB3),
        (0x0EBD, 0x0EC6),
    ),
    *(
        (0x1000, 0x102A),
        (0x103F, 0x103F),
        (0x1050, 0x1055),
        (0x105A, 0x108E),
        (0x1780, 0x17B3),
        (0x17D7, 0x17DC),
    ),
    *(
        (0x3005, 0x3007),
        (0x3021, 0x3029),
        (0x3031, 0x303C),
        (0x3041, 0x3096),
        (0x309D, 0x309F),
        (0x30A1, 0x30FA),
    ),
    *(
        (0x30FC, 0x312F),
        (0x3131, 0x318E),
        (0x31A0, 0x31BF),
        (0x31F0, 0x31FF),
        (0x3400, 0x4DBF),
        (0x4E00, 0x9FFF),
    ),
    *((0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)
# What Unicode calls default ignorable, except U+200B, which separates words.
_UNSEEN = dict.fromkeys(
    chain(
        (0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
        *(range(0x180B, 0x1810), range(0x200C, 0x2010), range(0x202A, 0x202F), range(0x2060, 0x2070)),
        *(range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)),
    )
)
# Patterns over classes of characters: u unspaced, w other letter or digit, m mark, _ underscore, space:
# other.
_WORDS = re.compile("(?:um*)+|w[wm]*(?:_+w[wm]*)*")
_LETTER = re.compile("um*")


def tokens(text: str) -> list[str]:
    """Return the words of a text in order; the index of a word is its position."""
    chunks = _cut(text.encode("utf-8", "replace")).split()
    return list(chain.from_iterable(map(_REMEMBERED.__getitem__, chunks)))


def _cut(data: bytes) -> bytes:
    """Return a text in UTF-8 with ASCII in lower case and spaces for separators."""
    chunks = data.translate(TO_CHUNKS)
    return _with_signs(data.lower(), chunks) if any(sign in data for sign in _SIGNS) else chunks


def _with_signs(data: bytes, chunks: bytes) -> bytes:
    """Return the chunks with the signs of `C++` and other names that have one."""
    signed = bytearray(chunks)
    for match in _SIGNED.finditer(data):
        signed[match.start() : match.end()] = match[0]
    return bytes(signed)


def parts_of(chunk: bytes) -> tuple[str, ...]:
    """Return the parts of an identifier in ASCII, as it is written; none if the chunk is no identifier."""
    has_humps = not chunk.islower() and _HUMP.search(chunk)
    if (b"_" not in chunk and not has_humps) or not chunk.isascii():
        return ()
    parts = chunk.decode().strip("_")[:MAX_CHARACTERS].split("_", MAX_PARTS - 1)
    if has_humps:
        parts = [part for piece in parts if piece for part in _humps(piece)]
    found = [stripped.lower() for part in parts if (stripped := part.strip("_"))]
    return tuple(found) if len(found) > 1 else ()


def _humps(name: str) -> list[str]:
    """Return the parts of a name with capitals inside, or the name itself."""
    parts = _CAMEL.findall(name) if "_" not in name else [name]
    return parts if len(parts) >= _LEAST_HUMPS or name[0].islower() else [name]


def parts_in(text: str) -> list[tuple[int, tuple[str, ...]]]:
    """Return the identifiers of a text that have parts: the position of each, and its parts.

    In an index a part has the position of the identifier plus its number among the parts.
    """
    data = text.encode("utf-8", "replace")
    if b"_" not in data and not _HUMP.search(data):
        return []
    found, position, at = [], 0, 0
    chunks = _cut(data)
    for chunk in chunks.split():
        at = chunks.index(chunk, at)
        if parts := parts_of(data[at : at + len(chunk)]):
            found.append((position, parts))
        position += len(_REMEMBERED[chunk])
        at += len(chunk)
    return found


def tokens_of_chunk(chunk: bytes) -> tuple[str, ...]:
    """Return the words of a chunk, the bytes between two ASCII separators, with ASCII in lower case."""
    if chunk.isascii():
        word = chunk.decode().strip("_")[:MAX_CHARACTERS].rstrip("_")
        return (word,) if word else ()
    return tuple(words_of(folded(chunk.decode("utf-8", "replace"))))


def words_of(text: str) -> list[str]:
    """Return the words of a folded text by the rules above, one character at a time."""
    classes = text.translate(_CLASSES)
    found: list[str] = []
    core = classes.strip(" ")
    if core and not core.strip("w"):  # one word, as most chunks are without their quotation marks
        start = classes.index("w")
        return [text[start : start + len(core)][:MAX_CHARACTERS]]
    for run in _WORDS.finditer(classes):
        start, end = run.span()
        if classes[start] == "w":
            found.append(text[start:end][:MAX_CHARACTERS].rstrip("_"))
        elif "m" not in classes[start:end]:
            found += _pairs(text[start:end])
        else:
            found += _pairs([text[slice(*letter.span())] for letter in _LETTER.finditer(classes, start, end)])
    return found


def folded(text: str) -> str:
    """Return a text without differences of case, width and form, and without invisible characters."""
    if text.isascii():
        return text.lower()
    text = normalize("NFKC", normalize("NFKC", text.translate(_UNSEEN)).casefold())
    # İ folds to i and a dot above, which only a Turkish keyboard can type; drop the dot.
    return text.replace("i\u0307", "i")


def _pairs(letters: Sequence[str]) -> list[str]:
    if len(letters) == 1:
        return list(letters)
    return [first + second for first, second in pairwise(letters)]


def class_of(character: str) -> str:
    """Return the class of a character, as `_WORDS` uses it."""
    group = category(character)
    if group[0] == "M":
        return "m"
    if group[0] not in "LN":
        return "_" if character == "_" else " "
    return "u" if any(first <= ord(character) <= last for first, last in UNSPACED) else "w"


class _Classes(dict[int, str]):
    """The class of each character met so far, for the life of the process."""

    def __missing__(self, number: int) -> str:
        self[number] = found = class_of(chr(number))
        return found


class _Remembered(dict[bytes, tuple[str, ...]]):
    """The words of the chunks met so far, because texts repeat themselves; it is emptied when it is full."""

    def __missing__(self, chunk: bytes) -> tuple[str, ...]:
        found = tokens_of_chunk(chunk)
        if len(chunk) <= _MAX_REMEMBERED_BYTES:
            if len(self) >= _MAX_REMEMBERED:
                self.clear()
            self[chunk] = found
        return found


_CLASSES = _Classes()
_REMEMBERED = _Remembered()
