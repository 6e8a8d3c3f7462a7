"""The messages between the tasks of an iteration, packed into bytes for the shuffle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.rank.graph.sparse_blocks import Block
from crawlctl.pipeline.rank.solve.anderson import Products
from crawlctl.pipeline.rank.solve.block_jacobi import Message
from crawlctl.pipeline.rank.solve.sending import Contribution, Layout
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

_INTEGERS, _FLOATS = "<u4", "<f8"


class PackedMessage(msgspec.Struct, frozen=True, array_like=True):
    """A message of a round with its arrays as bytes.

    In the first round `halo` names the file with the halo of the sender. In the message of a task to itself
    `state` names its state.
    """

    sender: int
    round: int
    residual: float
    drift: float
    total: float
    gram: bytes
    last: bytes
    values: bytes
    ranks: bytes
    layout: tuple[bytes, ...] | None
    halo: FileEntry | None = None
    state: FileEntry | None = None


encode_message = msgspec.msgpack.Encoder().encode
decode_message = msgspec.msgpack.Decoder(PackedMessage).decode


def pack_message(
    message: Message, round_number: int, *, halo: FileEntry | None, state: FileEntry | None
) -> PackedMessage:
    """Return a message in the form in which it is sent."""
    return PackedMessage(
        message.sender,
        round_number,
        message.residual,
        message.drift,
        message.total,
        _bytes(message.products.gram, _FLOATS),
        _bytes(message.products.last, _FLOATS),
        _bytes(message.contribution.values, _FLOATS),
        _bytes(message.contribution.ranks, _FLOATS),
        None if message.layout is None else _packed_layout(message.layout),
        halo,
        state,
    )


def unpack_message(packed: PackedMessage) -> Message:
    """Return a message with its arrays."""
    last = np.frombuffer(packed.last, _FLOATS)
    gram = np.frombuffer(packed.gram, _FLOATS).reshape(len(last), -1) if len(last) else np.zeros((0, 0))
    return Message(
        packed.sender,
        packed.residual,
        packed.drift,
        packed.total,
        Products(gram, last),
        Contribution(np.frombuffer(packed.values, _FLOATS), np.frombuffer(packed.ranks, _FLOATS)),
        None if packed.layout is None else _layout(packed.layout),
    )


def _packed_layout(layout: Layout) -> tuple[bytes, ...]:
    links = layout.in_halo
    numbers = layout.rows, layout.places, links.rows, links.counts, links.sources
    return tuple(_bytes(array, _INTEGERS) for array in numbers)


def _layout(packed: tuple[bytes, ...]) -> Layout:
    numbers = (np.frombuffer(data, _INTEGERS).astype(np.int64) for data in packed)
    rows, places, targets, counts, sources = numbers
    return Layout(rows, places, Block(targets, starts_of(counts), sources))


def _bytes(array: NDArray[Any], dtype: str) -> bytes:
    return array.astype(dtype).tobytes()
