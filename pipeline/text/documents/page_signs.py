"""Signs that a page is a bad answer: what its text, title, links and language say against it.

Documentation has pages of names, code, tables and lists of links, which are good answers. So each sign asks
for much more than any of them has; the numbers were chosen on a crawl of documentation (docs/decisions.md).
Words are counted in the sample by which the language is detected, and the number of different triples of
words comes with the sketch, so no text is cut into words for the signs.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawlctl.pipeline.text.documents.page import LINKS_AWAY, OTHER_LANGUAGE, REPEATED, STUFFED, WORD_LIST
from crawlctl.pipeline.text.likeness.fingerprint import MAX_WORDS, different_triples
from crawlctl.pipeline.text.words.language import is_function_word
from crawlctl.pipeline.urls.domains import registrable_domain
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.text.documents.page import Page

_MANY_LINKS = 30
_LINKS_SHARE = 0.8  # of the characters of the text
_MANY_WORDS = 100  # in the sample, which has about 330 of a long text
_PLAIN = 0.95  # share of the words that have letters only
_FUNCTION_WORDS = 0.01  # share of the words
_STUFFED = 0.3  # share of the words
_TIMES_IN_TITLE = 4
_LONG_TEXT = 300  # words
_DIFFERENT = 0.1  # different triples per word; prose has nearly 1
_PUNCTUATION = ",.;:!?|-–·()"
_CARELESS = ("", "en")  # templates declare `en` for texts in any language


def signs_of(
    url: str, page: Page, words: Counter[str], sketch: bytes, *, detected: str, declared: str
) -> int:
    """Return the signs of a page; `words` are counted in a part of its text, in the language `detected`."""
    signs = _signs_of_words(page.text, words, detected) if words.total() >= _MANY_WORDS else 0
    if _leads_away(url, page):
        signs |= LINKS_AWAY
    if _is_stuffed_title(page.title):
        signs |= STUFFED
    if _repeats(page.text, sketch):
        signs |= REPEATED
    if detected and declared not in (detected, *_CARELESS):
        signs |= OTHER_LANGUAGE
    return signs


def _signs_of_words(text: str, words: Counter[str], language: str) -> int:
    """Return the signs of a text of plain words; code and tables, which repeat themselves, have none.

    A text whose language was detected has enough function words.
    """
    total = words.total()
    ((word, count),) = words.most_common(1)
    is_frequent = count >= total * _STUFFED and _has_meaning(word)
    if (language and not is_frequent) or _how_many(words, str.isalpha) < total * _PLAIN:
        return 0
    is_list = not language and _how_many(words, is_function_word) < total * _FUNCTION_WORDS
    return (STUFFED if is_frequent and _stands_alone(word, text) else 0) | (WORD_LIST if is_list else 0)


def _how_many(words: Counter[str], is_such: Callable[[str], bool]) -> int:
    """Return how many of the counted words are such words."""
    return sum([count for word, count in words.items() if is_such(word)])


def _has_meaning(word: str) -> bool:
    return len(word) > 1 and not is_function_word(word)


def _stands_alone(word: str, text: str) -> bool:
    """Return whether a word is frequent by itself, and not as a part of names (`flask.Request`)."""
    written = text.lower().split()
    return sum([each.strip(_PUNCTUATION) == word for each in written]) >= len(written) * _STUFFED


def _leads_away(url: str, page: Page) -> bool:
    """Return whether the content is mostly links, and most of them lead to the sites of others."""
    links = [link for link in page.links if not link.boilerplate]
    if len(links) < _MANY_LINKS or sum([len(link.text) for link in links]) < len(page.text) * _LINKS_SHARE:
        return False
    own = registrable_domain(host_of(url))
    return 2 * sum([registrable_domain(host_of(link.url)) != own for link in links]) > len(links)


def _is_stuffed_title(title: str) -> bool:
    """Return whether the same word, which is no function word, stands in a title again and again."""
    written = title.lower().split()
    if len(written) < _TIMES_IN_TITLE:
        return False
    counted = Counter([word for each in written if (word := each.strip(_PUNCTUATION)).isalpha()])
    least = max(_TIMES_IN_TITLE, len(written) * _STUFFED)
    return any(count >= least and _has_meaning(word) for word, count in counted.items())


def _repeats(text: str, sketch: bytes) -> bool:
    """Return whether a text has few different triples of words for its many words."""
    different = different_triples(sketch)
    if different >= len(text) / 2 * _DIFFERENT:  # a word and the space behind it have two characters or more
        return False
    words = min(text.count(" ") + text.count("\n"), MAX_WORDS)
    return words >= _LONG_TEXT and different < words * _DIFFERENT
