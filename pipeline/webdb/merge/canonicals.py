"""Decides which pages give way to the page that they name as canonical (rel=canonical).

The name is a hint of the site and may be wrong: the named page may be gone, redirect back, or name the first
page. So a page that names another is indexed like any other page. It gives way only if the chain of names,
from page to page, leads to another page with a document. If the names form a circle, one of its pages with a
document leads: the page with the shortest URL, of several the first in the order of the WebDB.

A document without words (an empty answer, or a page that needs scripts) may lead only pages without words:
otherwise the words of the other pages would be lost.

The result depends only on which pages have documents, so the order of events does not matter. A redirect ends
the chain: it has no content, and equal pages are found by their content. A page of another partition ends it
too, because its state is not known here: a page that names such a page keeps its own document. So no text is
lost, and a query still shows only one of several similar pages, from all partitions (pipeline/duplicates).

Pages are known by the hashes of their WebDB keys, which take 8 bytes instead of about 200. 64 bits do not
collide within a partition. Python's hash differs between processes, but no hash is stored.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes = NDArray[np.int64]

_NO_PAGE, _LIVE = -2, -1  # where a chain of names ends: at a page that is not live, or at a live page
_UNKNOWN, _IN_CHAIN, _YES, _NO = range(4)


class Names:
    """The pages of a partition that name another page, in key order, during one merge."""

    def __init__(self) -> None:
        self._pages = array("q")
        self._named = array("q")
        self._lengths = array("q")
        self._documents = bytearray()
        self._words = bytearray()

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, page: int, named: int, length: int, *, has_document: bool, has_words: bool = True) -> None:
        """Take the next page: its hash, the hash of the page it names, and the length of its URL."""
        self._pages.append(page)
        self._named.append(named)
        self._lengths.append(length)
        self._documents.append(has_document)
        self._words.append(has_words)

    def divided(self, live: Hashes, wordless: Hashes | None = None) -> tuple[Hashes, Hashes]:
        """Return the hashes of the pages that give way, and of the pages that do not.

        `live` are all pages of the partition that have a document with words, `wordless` all that have a
        document without words, both sorted.
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
        following = np.where(are_among(named, live), _LIVE, _NO_PAGE)
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
        """Return for the pages of the chains from `starts` whether another page with a document follows."""
        states = bytearray(len(following))
        for start in starts:
            chain, at = [], start
            while at >= 0 and states[at] == _UNKNOWN:
                states[at] = _IN_CHAIN
                chain.append(at)
                at = following[at]
            if at >= 0 and states[at] == _IN_CHAIN:
                circle = chain[chain.index(at) :]
                self._break(circle, states, documents)
                del chain[-len(circle) :]
            for page in reversed(chain):
                ahead = following[page]
                found = ahead == _LIVE or (ahead >= 0 and (documents[ahead] or states[ahead] == _YES))
                states[page] = _YES if found else _NO
        return states

    def _break(self, circle: list[int], states: bytearray, documents: bytes) -> None:
        """Choose the leader of a circle, if any of its pages has a document; the others give way."""
        able = [page for page in circle if documents[page]]
        leader = min(able, key=lambda page: (self._lengths[page], page), default=None)
        for page in circle:
            states[page] = _NO if page == leader or leader is None else _YES


def are_among(searched: Hashes, hashes: Hashes) -> NDArray[np.bool_]:
    """Return for each of the `searched` hashes whether it is among the sorted `hashes`."""
    if not len(hashes):
        return np.zeros(len(searched), np.bool_)
    at = np.minimum(np.searchsorted(hashes, searched), len(hashes) - 1)
    found: NDArray[np.bool_] = hashes[at] == searched
    return found
