"""The orders of a revision: one for all tasks, and one line per partition; and what a task returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec

from crawlctl.pipeline.config.settings import ScopeSettings
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.orders import StoreOrder, TaskOrder
from crawlctl.pipeline.state.kinds import HOSTS, WEBDB
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

REVISED_KINDS = (WEBDB, HOSTS)


class ReviseOrder(StoreOrder, frozen=True, kw_only=True):
    """The part of the order that is the same for all tasks of a revision; they read it from a file."""

    command: ClassVar[str] = "crawlctl forget"

    round: int
    indexed: int  # the round in which the index was merged last
    now: int  # seconds since 1970
    scope: ScopeSettings  # the new scope
    seed_hosts: tuple[str, ...] = ()  # used if the scope has no include rules
    only: tuple[str, ...] = ()  # if not empty, only entries that match one of these rules are changed
    refresh: bool = False  # make entries within the scope due, and change nothing else
    whole: bool = False  # with refresh: live pages are fetched even if they have not changed
    dry_run: bool = False  # count, and write nothing


class PartLine(TaskOrder, frozen=True):
    """A partition to be revised: the files of its part and its host table. One input line."""

    command: ClassVar[str] = "crawlctl forget"

    partition: int
    files: tuple[FileEntry, ...]


class RevisedPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result of the revision of a partition (or of its dry run): one output line.

    `left` counts pages that leave search, `excluded` all URLs that become excluded, `due` URLs that become
    due, and `outside` URLs that should become due but are outside the scope. `matched` counts the entries
    that each rule of the order matches. `examples` are some of the URLs that change.
    """

    partition: int
    files: tuple[FileEntry, ...] = ()
    left: int = 0
    excluded: int = 0
    due: int = 0
    outside: int = 0
    matched: dict[str, int] = {}
    examples: tuple[str, ...] = ()


_decode = msgspec.json.Decoder(RevisedPart).decode
encode_part = msgspec.json.Encoder().encode


def decode_part(line: bytes) -> RevisedPart:
    """Return the RevisedPart that a task has written as a line."""
    try:
        return _decode(line)
    except msgspec.DecodeError as err:
        raise ConfigError(f"not the output of a revision: {err}; run the command again") from err


def part_lines(files: Iterable[FileEntry], partitions: Collection[int] | None) -> Iterator[PartLine]:
    """Yield a line for each partition that has a part, or for each of the given partitions."""
    by_partition: dict[int, list[FileEntry]] = {}
    for entry in files:
        if entry.kind in REVISED_KINDS:
            by_partition.setdefault(entry.partition, []).append(entry)
    for number, found in sorted(by_partition.items()):
        if (partitions is None or number in partitions) and any(entry.kind == WEBDB for entry in found):
            yield PartLine(number, tuple(found))
