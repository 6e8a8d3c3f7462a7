"""The word table: the words of the index as they are written, each with its number of documents.

A merge writes one table beside each shard of a layer of the dictionary, with the words of that shard. It has
only words of letters, and only the words that the most documents have. Corrections and completions are taken
from it; all other words are in the dictionary only. So a table is never large, and is read whole.

    words      in byte order (lines)
    documents  how many documents have each word (4 bytes)
    hashes     of the deletion index, rising (4 bytes)
    owners     for each hash the index of its word (2 bytes)

The frame is that of checked_blocks.py. The deletion index holds a hash of each word, and of each word with
one character left out. Two words that are one slip apart (a character dropped, added or changed, or two
swapped) have one of these hashes in common, wherever the slip is. So all words near a wrong word are found by
about ten searches in an array; nothing must be decompressed.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from heapq import nlargest
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.segment.dictionary_layers import FIRST_LAYER, layer_counters
from crawlctl.pipeline.index.words.checked_blocks import (
    join_blocks,
    lines_block,
    numbers_block,
    numbers_in,
    split_blocks,
)
from crawlctl.pipeline.index.words.packed_lines import PackedLines
from crawlctl.pipeline.state.kinds import DICTIONARY
from crawlctl.pipeline.state.manifest import file_entry

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator, Mapping

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

WORDS = "words"  # the name of the file, beside `data` and `index` of the dictionary
MAX_WORDS = 1 << 16  # the most words of all tables of the index
LONGEST = 32  # the most characters of a word; people do not type longer words

_BASE = 0x01000193  # the base of the hash, a polynomial of the characters modulo 2³²
# if the most frequent word is in this number of documents, a word must be in two; or in three
_NEEDED = (200, 2000)
# for each time the most frequent word has this number of documents, a word must be in one more
_ONE_MORE = 10_000


def write_words(
    store: Store,
    name: str,
    shard: int,
    documents: Mapping[str, int],
    *,
    limit: int = MAX_WORDS,
    layer: int = FIRST_LAYER,
) -> FileEntry:
    """Write the table of the words that are in the most documents, at most `limit`.

    In a large index, a word that only one or two documents have is usually a typing error, and is left out.
    """
    least = least_documents(max(documents.values(), default=0))
    common = [(count, word) for word, count in documents.items() if count >= least]
    chosen = common if len(common) <= limit else nlargest(min(limit, MAX_WORDS), common)
    words = sorted((word.encode(), count) for count, word in chosen)
    hashes, owners = _deletion_index([word.decode() for word, _ in words])
    lines = lines_block(word.decode() for word, _ in words)
    counts = numbers_block("I", (count for _, count in words))
    with store.write(f"{name}/{WORDS}") as sink:
        sink.write(join_blocks(len(words), (lines, counts, hashes, owners)))
    return file_entry(sink, DICTIONARY, shard, counters=layer_counters(layer, {}))


def least_documents(most: int) -> int:
    """Return how many documents a word must be in, if the most frequent word is in `most` documents."""
    return 1 + sum(most >= size for size in _NEEDED) + most // _ONE_MORE


def _deletion_index(words: list[str]) -> tuple[bytes, bytes]:
    """Return the hashes, rising, and the index of the word of each; words of a length are hashed together."""
    import numpy as np

    lengths = np.array([len(word) for word in words])
    keys = [np.zeros(0, np.uint64)]
    for length in np.unique(lengths).tolist():
        owners = np.flatnonzero(lengths == length)
        text = "".join([words[owner] for owner in owners.tolist()])
        characters = np.frombuffer(text.encode("utf-32-le"), "<u4").reshape(-1, length)
        for left_out in range(length + 1):  # the last number leaves no character out
            hashed = np.zeros(len(owners), np.uint32)
            for column in range(length):
                if column != left_out:
                    hashed = hashed * np.uint32(_BASE) + characters[:, column]
            keys.append(hashed.astype(np.uint64) << np.uint64(16) | owners.astype(np.uint64))
    rising = np.unique(np.concatenate(keys))
    hashes, owners_of = rising >> np.uint64(16), rising & np.uint64(0xFFFF)
    return hashes.astype("<u4").tobytes(), owners_of.astype("<u2").tobytes()


def deletions(word: str) -> Iterator[str]:
    """Yield the word with one character left out, for each of its characters."""
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def _hash(text: str) -> int:
    hashed = 0
    for character in text:
        hashed = (hashed * _BASE + ord(character)) & 0xFFFFFFFF
    return hashed


class WordTable:
    """A table in memory; damage is a CorruptFile when it is opened."""

    def __init__(self, data: bytes, name: str) -> None:
        self._name = name
        self._count, (lines, counts, self._packed_hashes, self._packed_owners) = split_blocks(data, 4, name)
        self.words = PackedLines(lines, self._count, name)  # in byte order, in UTF-8
        self._documents = numbers_in("I", counts, self._count, name)

    # Only corrections use hashes and owners, which are most of the table.
    @cached_property
    def _owners(self) -> array[int]:
        return numbers_in("H", self._packed_owners, len(self._packed_owners) // 2, self._name)

    @cached_property
    def _hashes(self) -> array[int]:
        return numbers_in("I", self._packed_hashes, len(self._owners), self._name)

    def __len__(self) -> int:
        return self._count

    @cached_property
    def most(self) -> int:
        """How many documents the most frequent word is in."""
        return max(self._documents, default=0)

    def documents(self, word: str) -> int:
        """Return how many documents have a word; 0 if it is not in the table."""
        data = word.encode("utf-8", "replace")
        at = self.words.first_from(data)
        return self._documents[at] if at < self._count and self.words[at] == data else 0

    def sharing(self, texts: Iterable[str]) -> set[tuple[str, int]]:
        """Return the words that are one of these texts, or are with one character left out.

        Each word is returned with its number of documents. A few other words with the same hash may be among
        them.
        """
        owners: set[int] = set()
        for hashed in map(_hash, texts):
            at = bisect_left(self._hashes, hashed)
            while at < len(self._hashes) and self._hashes[at] == hashed:
                owners.add(self._owners[at])
                at += 1
        return {(self.words[owner].decode("utf-8", "replace"), self._documents[owner]) for owner in owners}

    def beginning_with(self, prefix: str, limit: int) -> list[tuple[int, str]]:
        """Return the words that begin with a prefix and are in the most documents, with that number."""
        start = prefix.encode("utf-8", "replace")
        first = self.words.first_from(start)
        after = self.words.first_from(start + b"\xff")
        counts = self._documents[first:after]
        most = nlargest(limit, range(len(counts)), key=counts.__getitem__)
        return [(counts[at], self.words[first + at].decode("utf-8", "replace")) for at in most]
