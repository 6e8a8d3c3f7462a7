"""Messages of an iteration as they cross the shuffle: packed numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from crawlctl.pipeline.rank.solve.anderson import Products
from crawlctl.pipeline.rank.solve.block_jacobi import Message
from crawlctl.pipeline.rank.solve.task_nodes import Given, Layout
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

_INTEGERS, _FLOATS = "<u4", "<f8"


class Packed(msgspec.Struct, frozen=True, array_like=True):
    """A message of a round; to itself a group sends where its state is."""

    sender: int
    round: int
    residual: float
    drift: float
    total: float
    gram: bytes
    last: bytes
    values: bytes
    masses: bytes
    flows: bytes
    layout: tuple[bytes, bytes, bytes, bytes, bytes] | None
    state: FileEntry | None = None


encode_message = msgspec.msgpack.Encoder().encode
decode_message = msgspec.msgpack.Decoder(Packed).decode


def pack(message: Message, round_number: int, state: FileEntry | None) -> Packed:
    """Return a message as it is sent."""
    return Packed(
        message.sender,
        round_number,
        message.residual,
        message.drift,
        message.total,
        _bytes(message.products.gram, _FLOATS),
        _bytes(message.products.last, _FLOATS),
        _bytes(message.given.values, _FLOATS),
        _bytes(message.given.masses, _FLOATS),
        _bytes(message.given.flows, _FLOATS),
        None if message.layout is None else _packed_layout(message.layout),
        state,
    )


def unpack(packed: Packed) -> Message:
    """Return a message as it was before it was sent."""
    last = np.frombuffer(packed.last, _FLOATS)
    gram = np.frombuffer(packed.gram, _FLOATS).reshape(len(last), -1) if len(last) else np.zeros((0, 0))
    values, masses, flows = (
        np.frombuffer(data, _FLOATS) for data in (packed.values, packed.masses, packed.flows)
    )
    return Message(
        packed.sender,
        packed.residual,
        packed.drift,
        packed.total,
        Products(gram, last),
        Given(values, masses, flows),
        None if packed.layout is None else _layout(packed.layout),
    )


def _packed_layout(layout: Layout) -> tuple[bytes, bytes, bytes, bytes, bytes]:
    *integers, teleport = layout
    rows, origins, into, out_of = (_bytes(array, _INTEGERS) for array in integers)
    return rows, origins, into, out_of, _bytes(teleport, _FLOATS)


def _layout(packed: tuple[bytes, bytes, bytes, bytes, bytes]) -> Layout:
    *integers, teleport = packed
    rows, origins, into, out_of = (np.frombuffer(data, _INTEGERS).astype(np.int64) for data in integers)
    return Layout(rows, origins, into, out_of, np.frombuffer(teleport, _FLOATS))


def _bytes(array: NDArray[Any], dtype: str) -> bytes:
    return array.astype(dtype).tobytes()
