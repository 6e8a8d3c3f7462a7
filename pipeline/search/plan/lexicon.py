"""What the words of queries stand for in an index, remembered: looking one up inflates a block."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.index.segment.term_info import TermPlace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.index.segment.dictionary import Dictionary
    from crawlctl.pipeline.search.plan.wording import Wording
    from crawlctl.pipeline.store.parallel_reads import ParallelReads

_REMEMBERED = 1 << 15


class Entry(msgspec.Struct, frozen=True):
    """Some terms that count as one, and where their lists lie."""

    terms: tuple[bytes, ...]
    places: Mapping[int, tuple[TermPlace, ...]]  # by segment
    postings: int  # in all of them
    is_telling: bool


class Lexicon:
    """The dictionary as queries ask it."""

    def __init__(self, dictionary: Dictionary, wording: Wording, parallel: ParallelReads) -> None:
        self.wording = wording
        self._dictionary = dictionary
        self._parallel = parallel
        self._known: OrderedDict[str, Entry] = OrderedDict()

    def entries(self, words: Iterable[str]) -> dict[str, Entry]:
        """Return what tokens stand for; those not met before are looked up together."""
        found: dict[str, Entry] = {}
        unknown: dict[str, tuple[bytes, ...]] = {}
        for word in words:
            entry = self._known.get(word)
            if entry is None:
                unknown[word] = self.wording.terms(word)
            else:
                found[word] = entry
        if unknown:
            places = self.find(term for terms in unknown.values() for term in terms)
            for word, terms in unknown.items():
                found[word] = entry_of({term: places[term] for term in terms}, self.wording.is_telling(word))
                self._remember(word, found[word])
        return found

    def find(self, terms: Iterable[bytes]) -> dict[bytes, list[TermPlace]]:
        """Return the places of the lists of terms."""
        wanted = list(dict.fromkeys(terms))
        return dict(zip(wanted, self._parallel.map(self._dictionary.find, wanted), strict=True))

    def range(self, start: bytes, stop: bytes | None) -> Iterator[tuple[bytes, list[TermPlace]]]:
        """Yield the terms from `start` on and below `stop`, with the places of their lists."""
        return self._dictionary.range(start, stop)

    def _remember(self, word: str, entry: Entry) -> None:
        self._known[word] = entry
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


def entry_of(found: Mapping[bytes, list[TermPlace]], is_telling: bool = True) -> Entry:
    """Return the entry of terms that count as one."""
    places: dict[int, tuple[TermPlace, ...]] = {}
    for listed in found.values():
        for place in listed:
            places[place.segment] = (*places.get(place.segment, ()), place)
    postings = sum(place.count for listed in found.values() for place in listed)
    return Entry(tuple(found), places, postings, is_telling)
