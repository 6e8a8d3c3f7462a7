"""What of a query can be seen in a page: words, words side by side, beginnings of words, numbers.

A word of a page is one that was asked for if both have the same stem in the language of the page, as in the
index. To look for it, only what all its inflections begin with is searched for; the stem then decides. (A
few irregular ones do not begin so, as the skies of a sky: they are found, but not marked.)
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import msgspec

from crawlctl.pipeline.search.query.tree import And, Not, Or, Phrase, Prefix, Range, Site
from crawlctl.pipeline.text.words.stems import stemmer
from crawlctl.pipeline.text.words.stopwords import stop_words
from crawlctl.pipeline.text.words.tokens import UNSPACED, folded, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.search.query.tree import Leaf, Node


class Form(Protocol):
    """One word of what is sought."""

    @property
    def needle(self) -> str:
        """What each such word begins with, in lower case; empty where that is not known."""

    def accepts(self, word: str) -> bool:
        """Tell whether a folded word of the page is one."""


class Sought(msgspec.Struct, frozen=True):
    """One thing that a query asks for: a word, or several side by side."""

    forms: tuple[Form, ...]


class WordForm:
    """A word in all its inflections."""

    def __init__(self, word: str, language: str) -> None:
        self.word = word
        self._stem_of = stemmer(language)
        self._stem = self._stem_of(word)
        self.needle = _common_beginning(word, self._stem)

    def accepts(self, word: str) -> bool:
        """Tell whether a word has the same stem."""
        return word == self.word or self._stem_of(word) in (self._stem, self.word)


class PrefixForm:
    """Any word that begins so."""

    def __init__(self, beginning: str) -> None:
        self.needle = beginning

    def accepts(self, word: str) -> bool:
        """Tell whether a word begins so."""
        return word.startswith(self.needle)


class UnspacedForm:
    """Characters of a script that sets no words apart, anywhere in a run of such characters."""

    def __init__(self, characters: str) -> None:
        self.needle = characters

    def accepts(self, word: str) -> bool:
        """Tell whether a run of characters has these in it."""
        return self.needle in word


class NumberForm:
    """A number within bounds."""

    needle = ""

    def __init__(self, low: int, high: int) -> None:
        self._low, self._high = low, high

    def accepts(self, word: str) -> bool:
        """Tell whether a word is a number within the bounds."""
        return word.isascii() and word.isdigit() and len(word) < 20 and self._low <= int(word) <= self._high


def sought_in(tree: Node, language: str, fields: Sequence[str]) -> list[Sought]:
    """Return what a query asks for in any of some fields of a page; stop words only in phrases.

    Where there are nothing but stop words, those are what is asked for.
    """
    found = [
        forms
        for leaf in _wanted(tree)
        if not isinstance(leaf, Site) and (leaf.field is None or leaf.field in fields)
        for forms in [_forms(leaf, language)]
        if forms
    ]
    stop = stop_words(language) | stop_words("en")
    telling = [forms for forms in found if len(forms) > 1 or _word(forms[0]) not in stop]
    return [Sought(forms) for forms in telling or found]


def _word(form: Form) -> str:
    return form.word if isinstance(form, WordForm) else ""


def _common_beginning(first: str, second: str) -> str:
    same = 0
    while first[same : same + 1] == second[same : same + 1] != "":
        same += 1
    return first[:same]


def _wanted(node: Node) -> Iterator[Leaf]:
    if isinstance(node, (And, Or)):
        for part in node.parts:
            yield from _wanted(part)
    elif not isinstance(node, Not):
        yield node


def _forms(leaf: Leaf, language: str) -> tuple[Form, ...]:
    if isinstance(leaf, Site):
        return ()
    if isinstance(leaf, Range):
        return (NumberForm(leaf.low, leaf.high),)
    if isinstance(leaf, Prefix):
        return (PrefixForm(leaf.text),)
    text = " ".join(leaf.words) if isinstance(leaf, Phrase) else leaf.text
    return tuple(_forms_of_text(text, language))


def _forms_of_text(text: str, language: str) -> Iterator[Form]:
    if text.isascii():
        yield from (WordForm(word, language) for word in tokens(text))
        return
    for piece in unspaced_runs().split(folded(text)):
        if unspaced_runs().fullmatch(piece):
            yield UnspacedForm(piece)
        else:
            yield from (WordForm(word, language) for word in tokens(piece))


@lru_cache(maxsize=1)
def unspaced_runs() -> re.Pattern[str]:
    """Return the pattern of a run of characters that need no spaces between words."""
    return re.compile(f"([{unspaced_class()}]+)")


def unspaced_class() -> str:
    """Return what stands between the brackets of a pattern for one such character."""
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in UNSPACED)
