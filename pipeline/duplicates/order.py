"""The orders of the job that groups near duplicates, and the messages between its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.duplicates.grouping_due import searched_segments
from crawlctl.pipeline.orders import StoreOrder, TaskOrder
from crawlctl.pipeline.state.kinds import COMPARED, DELETED, GROUPS, PRIORS, SEGMENTS
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterable

STATE_KINDS = (COMPARED, GROUPS)  # the kinds of files that a grouping leaves for the next one
_READ_KINDS = (SEGMENTS, DELETED, PRIORS, *STATE_KINDS)


class GroupOrder(StoreOrder, frozen=True, kw_only=True):
    """The part of the order that is the same for all tasks of the job; the tasks read it from a file."""

    round: int
    shards: int
    threshold: float
    partitions: tuple[int, ...]
    # The files of the last grouping, of all partitions; none to compare all documents.
    state: tuple[FileEntry, ...] = ()


class PartitionFiles(TaskOrder, frozen=True, array_like=True):
    """A partition and the files of its index: one input line of a mapper."""

    partition: int
    entries: tuple[FileEntry, ...]


class Wanted(msgspec.Struct, frozen=True, tag=True):
    """To each partition: which documents another partition wants to meet."""

    keys: bytes  # the keys of the sketches of documents that are compared in this grouping
    left: bytes  # hashes of the URLs of documents that have lost the leader of their group


class Home(msgspec.Struct, frozen=True, tag=True):
    """To the partition itself: what has changed in it since the last grouping."""

    files: PartitionFiles
    compared: tuple[FileEntry, ...]  # with the rows of all its segments
    is_changed: bool = False
    new: bytes = b""  # PLACE of each document that was not compared yet
    grouped: bytes = b""  # MEMBERSHIP of each document that is still in its group


class Labels(msgspec.Struct, frozen=True, tag=True):
    """To a partition: the groups that were found for its documents."""

    rows: bytes  # GROUPED


Message = Wanted | Home | Labels

encode_message = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Message).decode


def decode_messages(messages: Iterable[bytes]) -> list[Message]:
    """Return the messages that a task was sent."""
    return [_decode(message) for message in messages]


def partition_lines(entries: Iterable[FileEntry]) -> list[PartitionFiles]:
    """Return the input of the job: the partitions that have documents, or had some at the last grouping."""
    by_partition: dict[int, list[FileEntry]] = {}
    for entry in entries:
        if entry.kind in _READ_KINDS:
            by_partition.setdefault(entry.partition, []).append(entry)
    return [
        PartitionFiles(number, tuple(files))
        for number, files in sorted(by_partition.items())
        if searched_segments(files) or any(entry.kind in STATE_KINDS for entry in files)
    ]
