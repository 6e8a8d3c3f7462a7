from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.store import writer as sinks
from crawlctl.pipeline.store.writer import StoreWriter

if TYPE_CHECKING:
    from collections.abc import Callable


class Heap(StoreWriter):
    """Keeps its chunks."""

    def __init__(self, chunk_bytes: int) -> None:
        super().__init__("a", chunk_bytes)
        self.chunks: list[bytes] = []
        self.last = b""

    def _send(self, chunk: bytes) -> None:
        self.chunks.append(chunk)

    def _finish(self, last: bytes) -> None:
        self.last = last

    def discard(self) -> None:
        self.close()


pieces = st.lists(
    st.tuples(st.binary(max_size=40), st.sampled_from([bytes, bytearray, memoryview])), max_size=20
)


@given(pieces, st.integers(1, 30), st.integers(1, 4))
def test_what_is_written_comes_in_full_chunks(
    held: list[tuple[bytes, Callable[[bytes], bytes]]], chunk_bytes: int, most: int
) -> None:
    heap = Heap(chunk_bytes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sinks, "MAX_BUFFERS", most)
        for content, kind in held:
            assert heap.write(kind(content)) == len(content)
        heap.commit()
    whole = b"".join(content for content, _ in held)
    assert b"".join([*heap.chunks, heap.last]) == whole
    assert {*map(len, heap.chunks)} <= {chunk_bytes}
    assert len(heap.last) < chunk_bytes
    assert heap.bytes == len(whole)
    assert heap.checksum == sha256(whole).hexdigest()


def test_what_changes_behind_a_write_is_written_as_it_was() -> None:
    heap = Heap(100)
    content = bytearray(b"before")
    heap.write(content)
    content[:] = b"behind"
    heap.commit()
    assert heap.last == b"before"
