"""The messages between the tasks of an iteration as bytes, in which they cross the shuffle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from crawlctl.pipeline.rank.solve.anderson import Products
from crawlctl.pipeline.rank.solve.block_jacobi import Message
from crawlctl.pipeline.rank.solve.task_matrix import Contribution, MessageLayout
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

_INTEGERS, _FLOATS = "<u4", "<f8"


class PackedMessage(msgspec.Struct, frozen=True, array_like=True):
    """A message of a round with its arrays as bytes; the message of a task to itself names its state."""

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
decode_message = msgspec.msgpack.Decoder(PackedMessage).decode


def pack_message(message: Message, round_number: int, state: FileEntry | None) -> PackedMessage:
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
        _bytes(message.contribution.masses, _FLOATS),
        _bytes(message.contribution.flows, _FLOATS),
        None if message.layout is None else _packed_layout(message.layout),
        state,
    )


def unpack_message(packed: PackedMessage) -> Message:
    """Return a message with its arrays."""
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
        Contribution(values, masses, flows),
        None if packed.layout is None else _layout(packed.layout),
    )


def _packed_layout(layout: MessageLayout) -> tuple[bytes, bytes, bytes, bytes, bytes]:
    *integers, teleport = layout
    rows, origins, into, out_of = (_bytes(array, _INTEGERS) for array in integers)
    return rows, origins, into, out_of, _bytes(teleport, _FLOATS)


def _layout(packed: tuple[bytes, bytes, bytes, bytes, bytes]) -> MessageLayout:
    *integers, teleport = packed
    rows, origins, into, out_of = (np.frombuffer(data, _INTEGERS).astype(np.int64) for data in integers)
    return MessageLayout(rows, origins, into, out_of, np.frombuffer(teleport, _FLOATS))


def _bytes(array: NDArray[Any], dtype: str) -> bytes:
    return array.astype(dtype).tobytes()
