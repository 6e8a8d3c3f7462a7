"""How often the crawl's own merge policies write a row, a document and a term again; for scale.py.

A crawl is a list of rounds here, and a partition is a few numbers: the rows of its WebDB layers, the
documents of its segments and how many of them are deleted, the terms of the layers of the dictionary. The
policies are those of the crawl; only the files are left out. All partitions are alike, so one stands for all.
Sizes are those of a partition, but the terms of the dictionary are those of the whole crawl.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.config.settings import IndexSettings
from crawlctl.pipeline.index.merge.layer_policy import plan_layer
from crawlctl.pipeline.index.merge.merge_policy import Item, Limits, plan_merges
from crawlctl.pipeline.index.segment.dictionary_layers import (
    layer_counters,
    layers_of,
    needed_layers,
)
from crawlctl.pipeline.index.segment.segment_files import MAX_DOCUMENTS
from crawlctl.pipeline.state.kinds import DICTIONARY
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.webdb.layers.layer import first_to_merge

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.index.segment.dictionary_layers import LayerFiles

SETTINGS = IndexSettings()


class Round(NamedTuple):
    """What a round does to a partition."""

    rows: float  # rows of the WebDB that it changes
    documents: float  # documents that it indexes
    replaced: float = 0.0  # of them, those of pages that were indexed before


class Written(NamedTuple):
    """What merges have written: rows and documents of a partition, terms of the whole dictionary."""

    rows: float
    documents: float
    terms: float


@dataclass
class _Segment:
    documents: float
    dead: float = 0.0


@dataclass
class MadeUpCrawl:
    """A crawl of so many partitions; `terms` says how many terms a segment of some documents has."""

    partitions: int
    words: float  # per document
    terms: Callable[[float], float]
    layers: list[float] = field(default_factory=list)
    segments: dict[str, _Segment] = field(default_factory=dict)
    dictionary: list[LayerFiles] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._names = (f"s{number:06}" for number in count())

    def run(self, one: Round, *, is_ranked: bool = False) -> Written:
        """Do a round; return what its merges have written. A ranking at its end writes the WebDB whole."""
        rows = self._merge_rows(one.rows)
        if is_ranked:
            self.layers = [sum(self.layers)]
        documents = self._merge_segments(one)
        return Written(rows, documents, self._merge_dictionary())

    def _merge_rows(self, changed: float) -> float:
        """Add a layer; return the rows that merges of older layers have written again."""
        self.layers.append(changed)
        first = first_to_merge([round(rows) for rows in self.layers])
        merged = self.layers[first:]
        if len(merged) < 2:
            return 0.0
        self.layers[first:] = [sum(merged)]
        return sum(merged)

    def _merge_segments(self, one: Round) -> float:
        """Merge the run of a round with segments; return the documents of the new segments."""
        self._bury(one.replaced)
        limits = Limits.of_memory(SETTINGS.memory, MAX_DOCUMENTS)
        run = Item("run", round(one.documents), round(one.documents * self.words))
        items = [self._item(name) for name in self.segments]
        written = 0.0
        for plan in plan_merges([run], items, SETTINGS.tier_ratio, limits):
            taken = [self.segments.pop(item.name) for item in plan if item.name in self.segments]
            documents = sum(segment.documents - segment.dead for segment in taken)
            documents += one.documents if run in plan else 0
            self.segments[next(self._names)] = _Segment(documents)
            written += documents
        return written

    def _bury(self, replaced: float) -> None:
        """Count documents as deleted, in each segment the same share of those that live."""
        alive = sum(segment.documents - segment.dead for segment in self.segments.values())
        for segment in self.segments.values():
            segment.dead += replaced * (segment.documents - segment.dead) / alive if alive else 0.0

    def _item(self, name: str) -> Item:
        segment = self.segments[name]
        is_stale = segment.dead > SETTINGS.max_stale * segment.documents
        return Item(name, round(segment.documents), round(segment.documents * self.words), is_stale)

    def _merge_dictionary(self) -> float:
        """Write a layer of the dictionary; return its terms, of all partitions."""
        sizes = {
            name: round(self.partitions * self.terms(segment.documents))
            for name, segment in self.segments.items()
        }
        chosen = {name: sizes[name] for name in plan_layer(sizes, self.dictionary)}
        number = self.dictionary[0].number + 1 if self.dictionary else 1
        counters = layer_counters(number, chosen)
        newest = FileEntry(DICTIONARY, 0, f"{DICTIONARY}/{number}", 0, 0, "0" * 64, counters)
        files = [newest, *(entry for layer in self.dictionary for entry in layer.files)]
        self.dictionary = layers_of(needed_layers(files, sizes))
        return sum(chosen.values())


def total(amounts: list[Written]) -> Written:
    """Return the sum of what some rounds have written."""
    return Written(*map(sum, zip(*amounts, strict=True)))
