"""Posting lists as arrays over all segments, decoded once and kept while they are in use."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from crawlctl.pipeline.index.segment.postings.array_lists import documents_array, positions_array
from crawlctl.pipeline.search.evaluate.list_reads import Want
from crawlctl.pipeline.search.evaluate.lru import LruCache
from crawlctl.pipeline.search.evaluate.vector_positions import POSITION_BITS, Bodies, Positions, Spots
from crawlctl.pipeline.search.plan.steps import ANY_FIELD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from crawlctl.pipeline.index.segment.term_info import TermPlace
    from crawlctl.pipeline.search.evaluate.vector_positions import Documents, Keys
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.plan.steps import Terms

    Impacts = NDArray[np.uint8]

_Value = TypeVar("_Value", bound=np.generic)

CACHE_BYTES = 256 << 20  # of lists, and as many of positions

_DENSE_SHARE = 32  # a list with one of so many documents is kept as a table of all documents too
_OBJECT_BYTES = 500


class VectorList:
    """The documents of some terms, rising, with the greatest impact of each; dead ones are left out."""

    def __init__(self, documents: Documents, impacts: Impacts, size: int) -> None:
        self.documents = documents
        self.impacts = impacts
        self._size = size

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def is_dense(self) -> bool:
        """Whether it has so many documents that a table of all is worth its room."""
        return len(self.documents) * _DENSE_SHARE >= self._size

    @cached_property
    def table(self) -> Impacts:
        """The impact of every document of the index, 0 where it has none of the terms."""
        table = np.zeros(self._size, np.uint8)
        table[self.documents] = self.impacts
        return table

    def impacts_of(self, documents: Documents) -> Impacts:
        """Return the impacts of some documents, 0 where they have none of the terms."""
        if self.is_dense:
            return self.table[documents]
        return looked_up(self.documents, self.impacts, documents)

    @property
    def nbytes(self) -> int:
        """The bytes that it holds or will hold."""
        table = self._size if self.is_dense else 0
        return self.documents.nbytes + self.impacts.nbytes + table + _OBJECT_BYTES


def looked_up(documents: Documents, values: NDArray[_Value], wanted: Documents) -> NDArray[_Value]:
    """Return the values of wanted documents among rising ones, 0 for those that are not among them."""
    if not len(documents):
        return np.zeros(len(wanted), values.dtype)
    places = documents.searchsorted(wanted)
    places[places == len(documents)] = 0
    found = values[places]
    found[documents[places] != wanted] = 0
    return found


class VectorLists:
    """The decoded lists of an index."""

    def __init__(self, index: Searcher, max_bytes: int = CACHE_BYTES) -> None:
        self.size = index.size
        self._index = index
        self._lists: LruCache[tuple[tuple[bytes, ...], int], VectorList] = LruCache(max_bytes)
        self._positions: LruCache[tuple[bytes, ...], Positions] = LruCache(max_bytes)
        self.bodies = Bodies(index)

    @cached_property
    def alive(self) -> NDArray[np.bool_] | None:
        """Which documents can be found, None if all can."""
        dead = self._index.dead
        if not dead:
            return None
        alive = np.ones(self._index.size, np.bool_)
        for segment, stones in dead.items():
            bits = np.unpackbits(np.frombuffer(stones.bitmap, np.uint8), bitorder="little")
            base, documents = self._index.bases[segment], self._index.segments[segment].documents
            alive[base : base + documents] = bits[:documents] == 0
        return alive

    @cached_property
    def priors(self) -> NDArray[np.int32] | None:
        """The prior of every document, None if no page has a rank."""
        if not self._index.priors:
            return None
        priors = np.zeros(self._index.size, np.int32)
        for segment, data in self._index.priors.items():
            base = self._index.bases[segment]
            priors[base : base + len(data)] = np.frombuffer(data, np.uint8)
        return priors

    @cached_property
    def dates(self) -> NDArray[np.int64]:
        """The date of every document."""
        parts = [np.array(self._index.dates(segment), np.int64) for segment in range(len(self._index.bases))]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def load(self, terms: Iterable[Terms], with_positions: Iterable[Terms]) -> None:
        """Read and decode in one go what is not held yet."""
        lists = [one for one in terms if self._lists.get((one.terms, one.mask)) is None]
        positions = [one for one in with_positions if self._positions.get(one.terms) is None]
        wants = {place: Want(place, False) for one in lists for place in _places(one)}
        wants.update((place, Want(place, True)) for one in positions for place in _places(one))
        if not wants:
            return
        read = self._index.lists.read(wants.values())
        for one in lists:
            decoded = self._decode(one, read)
            self._lists.put((one.terms, one.mask), decoded, decoded.nbytes)
        for one in positions:
            self._keep_positions(one, read)

    def of(self, terms: Terms) -> VectorList:
        """Return the list of some terms."""
        found = self._lists.get((terms.terms, terms.mask))
        if found is not None:
            return found
        found = self._decode(terms, self._index.lists.read(Want(place, False) for place in _places(terms)))
        self._lists.put((terms.terms, terms.mask), found, found.nbytes)
        return found

    def positions_of(self, terms: Terms) -> Positions:
        """Return where some terms stand."""
        found = self._positions.get(terms.terms)
        if found is not None:
            return found
        read = self._index.lists.read(Want(place, True) for place in _places(terms))
        return self._keep_positions(terms, read)

    def _keep_positions(self, terms: Terms, read: dict[TermPlace, tuple[bytes, bytes]]) -> Positions:
        found = self._decode_positions(terms, read)
        self._positions.put(terms.terms, found, found.nbytes + _OBJECT_BYTES)
        return found

    def _decode(self, terms: Terms, read: dict[TermPlace, tuple[bytes, bytes]]) -> VectorList:
        parts = [self._documents(place, read[place][0]) for place in _places(terms)]
        if not parts:
            return VectorList(np.zeros(0, np.int32), np.zeros(0, np.uint8), self._index.size)
        documents, impacts, masks = (np.concatenate(column) for column in zip(*parts, strict=True))
        if terms.mask != ANY_FIELD:
            kept = (masks & np.uint8(terms.mask)) != 0
            documents, impacts = documents[kept], impacts[kept]
        if any(len(places) > 1 for places in terms.places.values()):
            documents, impacts = _merged(documents, impacts)
        if self.alive is not None:
            kept = self.alive[documents]
            documents, impacts = documents[kept], impacts[kept]
        return VectorList(documents, impacts, self._index.size)

    def _documents(self, place: TermPlace, part: bytes) -> tuple[Documents, Impacts, Impacts]:
        with self._index.lists.damage(place):
            limit = self._index.segments[place.segment].documents
            ordinals, impacts, masks = documents_array(part, place.count, limit)
        return ordinals + np.int32(self._index.bases[place.segment]), impacts, masks

    def _decode_positions(self, terms: Terms, read: dict[TermPlace, tuple[bytes, bytes]]) -> Positions:
        parts = [np.zeros(0, np.int64)]
        for place in _places(terms):
            documents, _, _ = self._documents(place, read[place][0])
            with self._index.lists.damage(place):
                frequencies, positions = positions_array(read[place][1], place.count)
            parts.append(np.repeat(documents.astype(np.int64) << POSITION_BITS, frequencies) | positions)
        keys = np.concatenate(parts)
        if any(len(places) > 1 for places in terms.places.values()):
            keys.sort()
        if self.alive is not None:
            keys = keys[self.alive[keys >> POSITION_BITS]]
        return self._split(terms, keys)

    def _split(self, terms: Terms, keys: Keys) -> Positions:
        if not len(keys):
            nowhere = Spots(keys, np.zeros(0, np.int32))
            return Positions(nowhere, nowhere)
        with self._index.lists.damage(_places(terms)[0]):
            return self.bodies.split(keys)


def _places(terms: Terms) -> list[TermPlace]:
    return [place for segment in sorted(terms.places) for place in terms.places[segment]]


def _merged(documents: Documents, impacts: Impacts) -> tuple[Documents, Impacts]:
    """Return documents that may come several times once each, with the greatest impact."""
    if not len(documents):
        return documents, impacts
    order = documents.argsort(kind="stable")
    documents, impacts = documents[order], impacts[order]
    starts = np.flatnonzero(np.r_[True, documents[1:] != documents[:-1]])
    return documents[starts], np.maximum.reduceat(impacts, starts)
