"""Posting lists as arrays over all segments, decoded once and kept for later queries."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from crawlctl.pipeline.index.fields import POSITION_BITS
from crawlctl.pipeline.index.segment.postings.array_lists import (
    documents_array,
    documents_arrays,
    positions_array,
    positions_arrays,
)
from crawlctl.pipeline.index.static_quality import QUALITY_BITS, quality_share
from crawlctl.pipeline.search.evaluate.lru import LruCache
from crawlctl.pipeline.search.evaluate.vector_positions import BodyNumbers, PositionSet, VectorPositions
from crawlctl.pipeline.search.plan.steps import ANY_FIELD, ListRead

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.search.evaluate.index_reader import IndexReader
    from crawlctl.pipeline.search.evaluate.list_reads import ListBytes
    from crawlctl.pipeline.search.evaluate.vector_positions import Documents, Keys
    from crawlctl.pipeline.search.plan.steps import Step, Terms

    Impacts = NDArray[np.uint8]
    Masks = NDArray[np.uint8]

_Value = TypeVar("_Value", bound=np.generic)

CACHE_BYTES = 256 << 20  # the limit for decoded lists; decoded positions have a limit of the same size

_DENSE_SHARE = 32  # a list with at least 1/32 of all documents also gets a table of all documents
_OBJECT_BYTES = 500  # about the bytes of the Python objects of one list


class VectorList:
    """The documents of some terms, rising, with the greatest impact of each; deleted ones are left out.

    `masks` has the fields of each document that have one of the terms (bit 1 << number of the field).
    """

    def __init__(self, documents: Documents, impacts: Impacts, masks: Masks, size: int) -> None:
        self.documents = documents
        self.impacts = impacts
        self.masks = masks
        self._size = size  # the number of documents of the index

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def is_dense(self) -> bool:
        """Whether the list has enough documents to make a table of all documents worth its memory."""
        return len(self.documents) * _DENSE_SHARE >= self._size

    @cached_property
    def table(self) -> Impacts:
        """The impact in every document of the index, 0 where it has none of the terms."""
        table = np.zeros(self._size, np.uint8)
        table[self.documents] = self.impacts
        return table

    def impacts_of(self, documents: Documents) -> Impacts:
        """Return the impacts in some documents, 0 where they have none of the terms."""
        if self.is_dense:
            return self.table[documents]
        return looked_up(self.documents, self.impacts, documents)

    def masks_of(self, documents: Documents) -> Masks:
        """Return the fields of some documents that have one of the terms, 0 where none has."""
        return looked_up(self.documents, self.masks, documents)

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the list takes, including the table that it may make later."""
        table = self._size if self.is_dense else 0
        return self.documents.nbytes + self.impacts.nbytes + self.masks.nbytes + table + _OBJECT_BYTES


def looked_up(documents: Documents, values: NDArray[_Value], wanted: Documents) -> NDArray[_Value]:
    """Return the value of each wanted document, 0 if it is not in `documents`, which are sorted."""
    if not len(documents):
        return np.zeros(len(wanted), values.dtype)
    indices = documents.searchsorted(wanted)
    indices[indices == len(documents)] = 0
    found = values[indices]
    found[documents[indices] != wanted] = 0
    return found


class VectorLists:
    """The decoded posting lists of an open index, held as long as the index is open, up to a limit."""

    def __init__(self, reader: IndexReader, max_bytes: int = CACHE_BYTES) -> None:
        self.reader = reader
        self._lists: LruCache[tuple[tuple[bytes, ...], int], VectorList] = LruCache(max_bytes)
        self._positions: LruCache[tuple[bytes, ...], VectorPositions] = LruCache(max_bytes)
        self._bodies = BodyNumbers(reader)
        self._weighted: tuple[int, NDArray[np.int32]] | None = None

    @cached_property
    def alive(self) -> NDArray[np.bool_] | None:
        """For each document, whether it can be found; None if no document was deleted."""
        if not self.reader.tombstones:
            return None
        alive = np.ones(self.reader.size, np.bool_)
        for segment, tombstones in self.reader.tombstones.items():
            bits = np.unpackbits(np.frombuffer(tombstones.bitmap, np.uint8), bitorder="little")
            base, documents = self.reader.bases[segment], self.reader.segments[segment].documents
            alive[base : base + documents] = bits[:documents] == 0
        return alive

    @cached_property
    def priors(self) -> NDArray[np.int32] | None:
        """The prior of every document, None if no page has a rank."""
        if not self.reader.priors:
            return None
        priors = np.zeros(self.reader.size, np.int32)
        for segment, data in self.reader.priors.items():
            base = self.reader.bases[segment]
            priors[base : base + len(data)] = np.frombuffer(data, np.uint8)
        return priors

    def weighted_priors(self, weight: int) -> NDArray[np.int32] | None:
        """Return what the prior of every document adds to its score; the last result is remembered."""
        if self.priors is None:
            return None
        if self._weighted is None or self._weighted[0] != weight:
            self._weighted = weight, self.priors * np.int32(weight)
        return self._weighted[1]

    @cached_property
    def dates(self) -> NDArray[np.int64]:
        """The date of every document, in UTC seconds."""
        dates = self.reader.parallel.map(self.reader.dates, range(len(self.reader.bases)))
        parts = [np.array(found, np.int64) for found in dates]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    @cached_property
    def titles(self) -> NDArray[np.int64]:
        """The number of words in the title of every document."""
        numbers = range(len(self.reader.bases))
        columns = self.reader.parallel.map(lambda segment: self.reader.numbers("title", segment), numbers)
        return np.concatenate([np.zeros(0, np.int64), *(np.asarray(column, np.int64) for column in columns)])

    @cached_property
    def qualities(self) -> NDArray[np.int64]:
        """The quality of every document in 255ths."""
        numbers = range(len(self.reader.bases))
        columns = self.reader.parallel.map(lambda segment: self.reader.numbers("flags", segment), numbers)
        flags = np.concatenate([np.zeros(0, np.uint8), *(np.asarray(column, np.uint8) for column in columns)])
        known = (flags & np.uint8(QUALITY_BITS)).astype(np.int64)
        return np.where(known > 0, known, quality_share(0))

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """The stable_hash of the URL of every document, by which equal scores are ordered."""
        numbers = range(len(self.reader.bases))
        parts = [np.asarray(self.reader.numbers("hashes", segment), np.uint64) for segment in numbers]
        return np.concatenate(parts) if parts else np.zeros(0, np.uint64)

    @property
    def body_starts(self) -> Keys:
        """The number of the first body word of each document; the words of all bodies have one numbering."""
        return self._bodies.starts

    def load(self, steps: Iterable[Step]) -> None:
        """Read and decode at once all lists of some steps that are not held yet."""
        steps = tuple(steps)
        leaves = (terms for step in steps for terms in step.leaves())
        with_positions = (terms for step in steps for terms in step.leaves_with_positions())
        lists = [terms for terms in leaves if self._lists.get((terms.terms, terms.mask)) is None]
        positions = [terms for terms in with_positions if self._positions.get(terms.terms) is None]
        reads = {info: ListRead(info, False) for terms in lists for info in _infos(terms)}
        reads.update((info, ListRead(info, True)) for terms in positions for info in _infos(terms))
        if not reads:
            return
        data = self.reader.lists.read(reads.values())
        for terms in lists:
            self._keep_list(terms, data)
        for terms in positions:
            self._keep_positions(terms, data)

    def of(self, terms: Terms) -> VectorList:
        """Return the list of some terms."""
        found = self._lists.get((terms.terms, terms.mask))
        return self._keep_list(terms, self._read(terms, positions=False)) if found is None else found

    def positions_of(self, terms: Terms) -> VectorPositions:
        """Return the positions of some terms."""
        found = self._positions.get(terms.terms)
        return self._keep_positions(terms, self._read(terms, positions=True)) if found is None else found

    def _read(self, terms: Terms, *, positions: bool) -> ListBytes:
        return self.reader.lists.read(ListRead(info, positions) for info in _infos(terms))

    def _keep_list(self, terms: Terms, data: ListBytes) -> VectorList:
        found = self._decode(terms, data)
        self._lists.put((terms.terms, terms.mask), found, found.nbytes)
        return found

    def _keep_positions(self, terms: Terms, data: ListBytes) -> VectorPositions:
        found = self._decode_positions(terms, data)
        self._positions.put(terms.terms, found, found.nbytes + _OBJECT_BYTES)
        return found

    def _decode(self, terms: Terms, data: ListBytes) -> VectorList:
        infos = _infos(terms)
        if not infos:
            none = np.zeros(0, np.uint8)
            return VectorList(np.zeros(0, np.int32), none, none, self.reader.size)
        documents, impacts, masks = self._documents(infos, data)
        if terms.mask != ANY_FIELD:
            kept = (masks & np.uint8(terms.mask)) != 0
            documents, impacts, masks = documents[kept], impacts[kept], masks[kept]
        if any(len(some) > 1 for some in terms.infos.values()):
            documents, impacts, masks = _merged(documents, impacts, masks)
        if self.alive is not None:
            kept = self.alive[documents]
            documents, impacts, masks = documents[kept], impacts[kept], masks[kept]
        return VectorList(documents, impacts, masks, self.reader.size)

    def _documents(self, infos: list[TermInfo], data: ListBytes) -> tuple[Documents, Impacts, Masks]:
        """Return the documents of some lists end to end, with their impacts and masks."""
        sections, counts = [data[info][0] for info in infos], [info.count for info in infos]
        limits = [self.reader.segments[info.segment].documents for info in infos]
        if len(infos) > 1:
            with suppress(ValueError):  # below we learn which list is damaged
                ordinals, impacts, masks = documents_arrays(sections, np.array(counts), np.array(limits))
                return self._numbered(infos, ordinals), impacts, masks
        parts = []
        for info, section, count, limit in zip(infos, sections, counts, limits, strict=True):
            with self.reader.lists.naming_damage(info):
                parts.append(documents_array(section, count, limit))
        found, impacts, masks = (np.concatenate(column) for column in zip(*parts, strict=True))
        return self._numbered(infos, found), impacts, masks

    def _numbered(self, infos: list[TermInfo], ordinals: NDArray[np.signedinteger]) -> Documents:
        """Return the numbers in the whole index of the documents of some lists."""
        bases = np.array([self.reader.bases[info.segment] for info in infos], np.int32)
        return ordinals.astype(np.int32) + bases.repeat([info.count for info in infos])

    def _decode_positions(self, terms: Terms, data: ListBytes) -> VectorPositions:
        infos = _infos(terms)
        keys = self._keys(infos, data) if infos else np.zeros(0, np.int64)
        if any(len(some) > 1 for some in terms.infos.values()):
            keys.sort()
        if self.alive is not None:
            keys = keys[self.alive[keys >> POSITION_BITS]]
        return self._split(terms, keys)

    def _keys(self, infos: list[TermInfo], data: ListBytes) -> Keys:
        """Return the positions of some lists end to end, each with its document in the high bits."""
        documents, _, _ = self._documents(infos, data)
        frequencies, positions = self._positions_in(infos, [data[info][1] for info in infos])
        keys: Keys = (documents.astype(np.int64) << POSITION_BITS).repeat(frequencies) | positions
        return keys

    def _positions_in(
        self, infos: list[TermInfo], sections: list[bytes]
    ) -> tuple[NDArray[np.signedinteger], NDArray[np.signedinteger]]:
        """Return the frequencies of some lists end to end, and their positions."""
        if len(infos) > 1:
            with suppress(ValueError):  # below we learn which list is damaged
                return positions_arrays(sections, np.array([info.count for info in infos]))
        parts = []
        for info, section in zip(infos, sections, strict=True):
            with self.reader.lists.naming_damage(info):
                parts.append(positions_array(section, info.count))
        frequencies, positions = (np.concatenate(column) for column in zip(*parts, strict=True))
        return frequencies, positions

    def _split(self, terms: Terms, keys: Keys) -> VectorPositions:
        if not len(keys):
            nowhere = PositionSet(keys, np.zeros(0, np.int32))
            return VectorPositions(nowhere, nowhere)
        with self.reader.lists.naming_damage(_infos(terms)[0]):
            return self._bodies.split(keys)


def _infos(terms: Terms) -> list[TermInfo]:
    return [info for segment in sorted(terms.infos) for info in terms.infos[segment]]


def _merged(documents: Documents, impacts: Impacts, masks: Masks) -> tuple[Documents, Impacts, Masks]:
    """Return documents that may occur several times once each, with the greatest impact and all fields."""
    if not len(documents):
        return documents, impacts, masks
    order = documents.argsort(kind="stable")
    documents, impacts, masks = documents[order], impacts[order], masks[order]
    starts = np.flatnonzero(np.r_[True, documents[1:] != documents[:-1]])
    return documents[starts], np.maximum.reduceat(impacts, starts), np.bitwise_or.reduceat(masks, starts)
