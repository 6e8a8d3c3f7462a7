"""Which pages give way to the page that they name in their place (rel=canonical).

Such a name is a hint and may be wrong: the page named may be gone, redirect back, or name the first one. So a
page that names another is indexed like any other, and gives way only where the way of names, from page to
page, meets another page with a document. Where the names go round in a circle, one of its pages that have a
document leads: the one with the shortest URL, of several the first in the order of the WebDB.

A document without words, as of an empty answer or a page that scripts would fill, stands only for pages that
have none either: it must not cost the words of others.

What counts is which pages have documents, not how they came by them, so the result is the same in any order
of events. A redirect ends the way: it has no content, and pages that are equal are found by their content. A
page of another partition ends it too, since its state is not known here: whoever names such a page keeps its
own document. So no text is lost, and a query shows only one of several pages that say nearly the same, in
whatever partition they are (pipeline/duplicates).

Pages are known by the hashes of their WebDB keys, which take 8 bytes and not 200; 64 bits do not collide in a
partition. Python's hash differs from process to process, and no hash lives longer than one.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes = NDArray[np.int64]

_NOBODY, _LIVE = -2, -1  # what a name leads to, where that is not a page with a name of its own
_UNKNOWN, _UNDER_WAY, _YES, _NO = range(4)


class Names:
    """The pages of a partition that name another one, in key order."""

    def __init__(self) -> None:
        self._pages = array("q")
        self._named = array("q")
        self._lengths = array("q")
        self._documents = bytearray()
        self._words = bytearray()

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, page: int, named: int, length: int, *, has_document: bool, has_words: bool = True) -> None:
        """Take the next page by its hash, that of the page it names, and the length of its URL."""
        self._pages.append(page)
        self._named.append(named)
        self._lengths.append(length)
        self._documents.append(has_document)
        self._words.append(has_words)

    def sorted_out(self, live: Hashes, wordless: Hashes | None = None) -> tuple[Hashes, Hashes]:
        """Return the pages that give way and those that do not.

        `live` are all that have a document with words, `wordless` those with one that has none, both sorted.
        """
        pages = np.frombuffer(self._pages, np.int64) if self._pages else np.zeros(0, np.int64)
        words = np.frombuffer(self._words, np.bool_)
        documents = np.frombuffer(self._documents, np.bool_)
        gives_way = self._giving_way(pages, live, documents & words)
        if not words.all():
            anything = live if wordless is None else np.sort(np.concatenate([live, wordless]))
            gives_way |= ~words & self._giving_way(pages, anything, documents)
        return pages[gives_way], pages[~gives_way]

    def _giving_way(self, pages: Hashes, live: Hashes, documents: NDArray[np.bool_]) -> NDArray[np.bool_]:
        named = np.frombuffer(self._named, np.int64) if self._named else np.zeros(0, np.int64)
        following = np.where(are_among(named, live), _LIVE, _NOBODY)
        order = np.argsort(pages)
        at = np.searchsorted(pages, named, sorter=order)
        at = order[np.minimum(at, len(order) - 1)] if len(order) else at
        has_name = pages[at] == named
        following[has_name] = at[has_name]
        gives_way: NDArray[np.bool_] = following == _LIVE
        if has_name.any():
            states = self._follow(following.tolist(), np.flatnonzero(has_name).tolist(), documents.tobytes())
            gives_way |= np.frombuffer(states, np.uint8) == _YES
        return gives_way

    def _follow(self, following: list[int], starts: list[int], documents: bytes) -> bytearray:
        """Return for the pages on the ways from `starts` whether another page with a document lies ahead."""
        states = bytearray(len(following))
        for start in starts:
            way, at = [], start
            while at >= 0 and states[at] == _UNKNOWN:
                states[at] = _UNDER_WAY
                way.append(at)
                at = following[at]
            if at >= 0 and states[at] == _UNDER_WAY:
                circle = way[way.index(at) :]
                self._break(circle, states, documents)
                del way[-len(circle) :]
            for page in reversed(way):
                ahead = following[page]
                found = ahead == _LIVE or (ahead >= 0 and (documents[ahead] or states[ahead] == _YES))
                states[page] = _YES if found else _NO
        return states

    def _break(self, circle: list[int], states: bytearray, documents: bytes) -> None:
        """Let one of the pages of a circle lead, and the others follow, if any of them has a document."""
        able = [page for page in circle if documents[page]]
        leader = min(able, key=lambda page: (self._lengths[page], page), default=None)
        for page in circle:
            states[page] = _NO if page == leader or leader is None else _YES


def are_among(wanted: Hashes, hashes: Hashes) -> NDArray[np.bool_]:
    """Return for each wanted hash whether it is among sorted ones."""
    if not len(hashes):
        return np.zeros(len(wanted), np.bool_)
    at = np.minimum(np.searchsorted(hashes, wanted), len(hashes) - 1)
    found: NDArray[np.bool_] = hashes[at] == wanted
    return found
