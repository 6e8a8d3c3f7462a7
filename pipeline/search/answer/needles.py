"""The parts of a query that can be marked in the text of a page: words, phrases, prefixes and numbers.

A word of a page is a word of the query if both have the same stem in the language of the page, as in the
index. To find it quickly, the text is searched for the letters that all inflections of the word begin with;
then the stem decides. (A few irregular inflections begin otherwise, as "skies" of "sky": pages with them are
found, but the words are not marked.)
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import msgspec

from crawlctl.pipeline.search.plan.readings import readings_of
from crawlctl.pipeline.search.query.tree import And, Exact, Not, Phrase, Prefix, Range, Word
from crawlctl.pipeline.text.words.accents import unaccented
from crawlctl.pipeline.text.words.stems import stemmer
from crawlctl.pipeline.text.words.stopwords import stop_words
from crawlctl.pipeline.text.words.tokens import UNSPACED, folded, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.search.query.tree import FieldLeaf, Node

_MAX_KNOWN = 250  # how many judged words, and how many judged chunks, a form remembers
_MAX_FORMS = 500  # how many forms of words are remembered: with all they know at most 30 MB, mostly 1


class Form:
    """Decides which words of a page stand for one word of a query.

    `literal` holds the characters, in lower case, that each such word begins with; it is empty if they are
    not known. In a script without spaces they may stand anywhere in the word. `known` are ASCII words that
    were judged already, and `spans` says where the form stands in identifiers and in words with other letters
    that were judged already: pages have many in common, and to find a stem takes longer than to look up a
    word.
    """

    def __init__(self, literal: str) -> None:
        self.literal = literal
        self.known: dict[bytes, bool] = {}
        self.spans: dict[bytes, list[tuple[int, int]]] = {}

    def accepts(self, word: str) -> bool:
        """Return whether a folded word of the page stands for the word of the query."""
        raise NotImplementedError

    def know(self, word: bytes) -> None:
        """Judge an ASCII word in lower case, and remember the answer for a while."""
        if len(self.known) >= _MAX_KNOWN:
            self.known.clear()
        self.known[word] = self.accepts(word.decode())

    def remember(self, chunk: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Remember for a while where the form stands in a chunk, and return it."""
        if len(self.spans) >= _MAX_KNOWN:
            self.spans.clear()
        self.spans[chunk] = spans
        return spans


class Needle(msgspec.Struct, frozen=True):
    """One item of a query that can be marked: a word, or several words side by side."""

    forms: tuple[Form, ...]


class WordForm(Form):
    """Accepts all inflections of a word."""

    def __init__(self, word: str, language: str) -> None:
        self.word = word
        self._language = language
        self._stem_of = stemmer(language)
        self._stem = self._stem_of(word)
        super().__init__(_common_beginning(word, self._stem))

    def accepts(self, word: str) -> bool:
        """Return whether a word has the same stem, or is the word with accents."""
        if word == self.word or self._stem_of(word) in (self._stem, self.word):
            return True
        return not word.isascii() and self.word in unaccented(word, self._language)


class ExactForm(Form):
    """Accepts a word as it is written, and the word with accents."""

    def __init__(self, word: str, language: str) -> None:
        super().__init__(word)
        self.word = word
        self._language = language

    def accepts(self, word: str) -> bool:
        """Return whether a word is the word of the query."""
        return word == self.word or (not word.isascii() and self.word in unaccented(word, self._language))


class PrefixForm(Form):
    """Accepts all words that begin with a prefix."""

    def accepts(self, word: str) -> bool:
        """Return whether a word begins with the prefix."""
        return word.startswith(self.literal)


class UnspacedForm(Form):
    """Accepts characters of a script without spaces, anywhere in a sequence of such characters."""

    def accepts(self, word: str) -> bool:
        """Return whether a sequence of characters contains these."""
        return self.literal in word


class NumberForm(Form):
    """Accepts numbers from `low` to `high`."""

    def __init__(self, low: int, high: int) -> None:
        super().__init__("")
        self._low, self._high = low, high

    def accepts(self, word: str) -> bool:
        """Return whether a word is a number within the bounds."""
        return word.isascii() and word.isdigit() and len(word) < 20 and self._low <= int(word) <= self._high


def needles_of(tree: Node, language: str, fields: tuple[str, ...]) -> tuple[Needle, ...]:
    """Return the needles of a query for some fields of a page. Stop words are needles only in phrases.

    If a query has only stop words, they are needles too.
    """
    found = [
        forms
        for leaf in _wanted(tree)
        if leaf.field is None or leaf.field in fields
        for forms in map(tuple, _FORMS[type(leaf)](leaf, language))
        if forms
    ]
    stop = stop_words(language) | stop_words("en")
    telling = [forms for forms in found if len(forms) > 1 or _word(forms[0]) not in stop]
    return tuple(Needle(forms) for forms in telling or found)


def marked_tree(tree: Node, synonyms: tuple[tuple[str, ...], ...]) -> Node:
    """Return the tree whose words are marked: the query, and the synonyms that were searched for."""
    leaves = (Word(words[0]) if len(words) == 1 else Phrase(words) for words in synonyms)
    return And((tree, *leaves)) if synonyms else tree


def _word(form: Form) -> str:
    return form.word if isinstance(form, (WordForm, ExactForm)) else ""


def _common_beginning(first: str, second: str) -> str:
    same = 0
    while first[same : same + 1] == second[same : same + 1] != "":
        same += 1
    return first[:same]


def _wanted(node: Node) -> Iterator[FieldLeaf]:
    """Yield the leaves that can be marked and are not excluded by NOT."""
    if type(node) in _FORMS:
        yield cast("FieldLeaf", node)
    elif not isinstance(node, Not):
        for part in node.parts:
            yield from _wanted(part)


@lru_cache(maxsize=_MAX_FORMS)
def _word_form(word: str, language: str) -> WordForm:
    """Return the form of a word; queries have many words in common."""
    return WordForm(word, language)


def _forms_of_word(text: str, language: str) -> Iterator[Iterable[Form]]:
    """Yield the forms of each reading of a word."""
    yield _forms_of_text(text, language)
    for words in readings_of(text)[1:]:
        yield [_word_form(word, language) for word in words]


def _forms_of_text(text: str, language: str) -> Iterator[Form]:
    if text.isascii():
        yield from (_word_form(word, language) for word in tokens(text))
        return
    for part in _unspaced().split(folded(text)):
        if _unspaced().fullmatch(part):
            yield UnspacedForm(part)
        else:
            yield from (_word_form(word, language) for word in tokens(part))


# The forms of the needles of a leaf. A leaf without a row, such as `site:`, is never marked.
_FORMS: dict[type, Callable[[Any, str], Iterable[Iterable[Form]]]] = {
    Word: lambda leaf, language: _forms_of_word(leaf.text, language),
    Exact: lambda leaf, language: [(ExactForm(word, language),) for word in tokens(leaf.text)],
    Phrase: lambda leaf, language: [_forms_of_text(" ".join(leaf.words), language)],
    Prefix: lambda leaf, _: [(PrefixForm(leaf.text),)],
    Range: lambda leaf, _: [(NumberForm(leaf.low, leaf.high),)],
}


@lru_cache(maxsize=1)
def _unspaced() -> re.Pattern[str]:
    """Return the pattern of characters that need no spaces between words."""
    return re.compile(f"([{unspaced_class()}]+)")


def unspaced_class() -> str:
    """Return the inside of the brackets of a pattern for one character that needs no spaces around words."""
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in UNSPACED)
