"""The word table: the words of the index as they are written, each with its number of documents.

A merge writes one table beside each shard of the dictionary, with the words of that shard. It has only words
of letters, and of these the ones in the most documents: corrections and completions are taken from it, and
the rest of the words are in the dictionary anyway. So a table is never large, and is read whole.

    head       its length (4 bytes); msgpack [version, CRC-32 of the rest, number of words, bytes of the
               deflated words, entries of the deletion index]
    words      in byte order, a line each, deflated (raw)
    documents  how many documents have each word (4 bytes)
    hashes     of the deletion index, rising (4 bytes)
    owners     for each hash the index of its word (2 bytes)

All numbers are little-endian. The deletion index holds a hash of each word, and of each word with one
character left out. Two words that are one slip apart (a character dropped, added or changed, or two swapped)
have one of these in common, wherever the slip is. So all words near a wrong one are found by some ten
searches in an array, and nothing is unpacked for it.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from functools import cached_property
from heapq import nlargest
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec
from isal import isal_zlib

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.kinds import DICTIONARY
from crawlctl.pipeline.state.manifest import Count, file_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

WORDS = "words"  # the file, beside `data` and `index` of the dictionary
MAX_WORDS = 1 << 16  # of the whole index
LONGEST = 32  # characters of a word; a longer one is none that people type

_VERSION = 1
_RAW_DEFLATE_BITS = -15
_LEVEL = 2
_BASE = 0x01000193  # of the hash, a polynomial of the characters modulo 2³²
_SOME_SIZE, _ONE_MORE = (
    200,
    5000,
)  # documents from which a word needs two, and for each of which it needs one more


class _Head(msgspec.Struct, frozen=True, array_like=True):
    version: int
    checksum: int
    words: Count
    packed_bytes: Count
    deletions: Count


_encode = msgspec.msgpack.Encoder().encode
_decode_head = msgspec.msgpack.Decoder(_Head).decode
_HEAD_BYTES = 4  # the length of the head comes first


def write_words(
    store: Store, name: str, shard: int, documents: Mapping[str, int], limit: int = MAX_WORDS
) -> FileEntry:
    """Write the table of the words that are in the most documents, at most `limit`.

    In an index of some size, a word that hardly any document has is a slip of its writer more often than not,
    and is left out.
    """
    most = max(documents.values(), default=0)
    least = 1 + (most >= _SOME_SIZE) + most // _ONE_MORE
    common = [(count, word) for word, count in documents.items() if count >= least]
    chosen = common if len(common) <= limit else nlargest(min(limit, MAX_WORDS), common)
    words = sorted((word.encode(), count) for count, word in chosen)
    with store.write(f"{name}/{WORDS}") as sink:
        sink.write(_packed(words))
    return file_entry(sink, DICTIONARY, shard)


def _packed(words: list[tuple[bytes, int]]) -> bytes:
    lines = isal_zlib.compress(b"\n".join(word for word, _ in words), _LEVEL, _RAW_DEFLATE_BITS)
    hashes, owners = _deletion_index([word.decode() for word, _ in words])
    counts = _little_endian(array("I", [count for _, count in words]))
    body = lines + counts + hashes + owners
    head = _encode(_Head(_VERSION, crc32(body), len(words), len(lines), len(owners) // 2))
    return len(head).to_bytes(_HEAD_BYTES, "little") + head + body


def _deletion_index(words: list[str]) -> tuple[bytes, bytes]:
    """Return the hashes, rising, and the index of the word of each; words of a length are hashed together."""
    import numpy as np

    lengths = np.array([len(word) for word in words])
    keys = [np.zeros(0, np.uint64)]
    for length in np.unique(lengths).tolist():
        owners = np.flatnonzero(lengths == length)
        text = "".join([words[owner] for owner in owners.tolist()])
        characters = np.frombuffer(text.encode("utf-32-le"), "<u4").reshape(-1, length)
        for left_out in range(length + 1):  # the last leaves none out
            hashed = np.zeros(len(owners), np.uint32)
            for column in range(length):
                if column != left_out:
                    hashed = hashed * np.uint32(_BASE) + characters[:, column]
            keys.append(hashed.astype(np.uint64) << np.uint64(16) | owners.astype(np.uint64))
    rising = np.unique(np.concatenate(keys))
    return (rising >> np.uint64(16)).astype("<u4").tobytes(), (rising & np.uint64(0xFFFF)).astype(
        "<u2"
    ).tobytes()


def _little_endian(numbers: array[int]) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


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
        head, body = _checked(data, name)
        self._lines = body[: head.packed_bytes]
        at = head.packed_bytes
        self._documents, at = _array("I", body, at, head.words)
        self._hashes, at = _array("I", body, at, head.deletions)
        self._owners, at = _array("H", body, at, head.deletions)
        if at != len(body):
            raise CorruptFile(name, 0, "the numbers of the word table do not fit each other")
        self._count = head.words
        self._name = name

    def __len__(self) -> int:
        return self._count

    @cached_property
    def words(self) -> list[bytes]:
        """The words in byte order, in UTF-8."""
        try:
            lines = isal_zlib.decompress(self._lines, _RAW_DEFLATE_BITS)
        except isal_zlib.error as err:
            raise CorruptFile(self._name, 0, f"the words cannot be inflated ({err})") from err
        words: list[bytes] = lines.split(b"\n") if self._count else []
        if len(words) != self._count:
            raise CorruptFile(self._name, 0, f"it has {len(words)} words, not {self._count}")
        return words

    def documents(self, word: str) -> int:
        """Return how many documents have a word; 0 if it is not in the table."""
        data = word.encode("utf-8", "replace")
        at = bisect_left(self.words, data)
        return self._documents[at] if at < self._count and self.words[at] == data else 0

    def sharing(self, texts: Iterable[str]) -> set[tuple[str, int]]:
        """Return the words that are one of these texts, or are with one character left out.

        Each comes with its number of documents. A few others may be among them, whose hash is the same.
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
        first = bisect_left(self.words, start)
        after = bisect_left(self.words, start + b"\xff")
        counts = self._documents[first:after]
        most = nlargest(limit, range(len(counts)), key=counts.__getitem__)
        return [(counts[at], self.words[first + at].decode("utf-8", "replace")) for at in most]


def _checked(data: bytes, name: str) -> tuple[_Head, bytes]:
    end = _HEAD_BYTES + int.from_bytes(data[:_HEAD_BYTES], "little")
    try:
        head = _decode_head(data[_HEAD_BYTES:end])
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, 0, f"not a word table ({err})") from err
    body = data[end:]
    if head.version != _VERSION or crc32(body) != head.checksum:
        raise CorruptFile(name, end, "the word table does not fit its checksum")
    return head, body


def _array(code: str, body: bytes, at: int, count: int) -> tuple[array[int], int]:
    """Return the numbers at an offset of the body, and the offset behind them."""
    numbers = array(code)
    end = at + count * numbers.itemsize
    if end <= len(body):  # else the sum of lengths does not fit, which the caller finds
        numbers.frombytes(body[at:end])
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers, end
