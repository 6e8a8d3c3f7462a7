"""The rules file of a snapshot: the rules of the operator, and the documents that each target stands for.

A query reads no settings. So, if the crawl has rules, the driver writes this file before a commit: the rules,
and for each segment the documents of each target. Segments never change, so the next file takes the documents
of old segments from this file. In a remote store the compound file has a copy, so a query needs no extra
request.

    CRC-32 of the rest (4 bytes, little-endian), MessagePack [version, rules, {segment: {target: ranges}}]
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any
from zlib import crc32

import msgspec

from crawlctl.pipeline.errors import CorruptFile, DamagedSettings, StoreError
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.search.rules.rule_set import RuleSet
from crawlctl.pipeline.state.kinds import DICTIONARY, RULES
from crawlctl.pipeline.state.layout import data_name, round_of
from crawlctl.pipeline.state.manifest import file_entry
from crawlctl.pipeline.state.own_settings import read_own_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

SECTION = "search."
_VERSION = 1
_HEAD = Struct("<I")


class PlacedRules(msgspec.Struct, frozen=True, array_like=True):
    """The rules of a crawl, and the ranges of ordinals of each target in each segment that has it."""

    version: int
    rules: RuleSet
    places: dict[str, dict[str, tuple[tuple[int, int], ...]]]


_decode = msgspec.msgpack.Decoder(PlacedRules).decode
_encode = msgspec.msgpack.Encoder().encode


def read_rules(store: Store, snapshot: Snapshot) -> PlacedRules | None:
    """Return the rules that a snapshot names, None if it names none."""
    for entry in snapshot.files_of(RULES):
        return _decoded(store.read(entry.name), store.locate(entry.name))
    return None


def with_rules(store: Store, before: Snapshot, files: tuple[FileEntry, ...]) -> tuple[FileEntry, ...]:
    """Return the files of the snapshot after `before`, with a rules file if the crawl has rules."""
    others = tuple(entry for entry in files if entry.kind != RULES)
    old = tuple(entry for entry in files if entry.kind == RULES)
    dictionary = [entry.name for entry in others if entry.kind == DICTIONARY]
    try:
        own = read_own_settings(store, msgspec.structs.replace(before, files=files)) or {}
    except DamagedSettings:  # no file now; after a repair the next commit writes it
        return files
    rules = rules_in(own)
    if not dictionary or rules == RuleSet():
        return others
    known = _known(store, old)
    placed = PlacedRules(_VERSION, rules, _places(store, others, rules, known))
    if placed == known:
        return files
    return (*others, _written(store, placed, max(map(round_of, dictionary))))


def rules_in(own: Mapping[str, Any]) -> RuleSet:
    """Return the rules in the own settings of a crawl, which are plain values by key."""
    values = {key.removeprefix(SECTION): value for key, value in own.items() if key.startswith(SECTION)}
    return msgspec.convert(values, RuleSet)


def _known(store: Store, old: tuple[FileEntry, ...]) -> PlacedRules | None:
    for entry in old:
        try:
            return _decoded(store.read(entry.name), entry.name)
        except StoreError:  # a damaged file is not used, and written again
            return None
    return None


def _places(
    store: Store, files: tuple[FileEntry, ...], rules: RuleSet, known: PlacedRules | None
) -> dict[str, dict[str, tuple[tuple[int, int], ...]]]:
    """Return the documents of each target in each segment; a target without documents is listed too."""
    from crawlctl.pipeline.search.rules.rule_places import SegmentPlaces

    targets = sorted(rules.targets())
    found = {}
    for segment in segments_of(files):
        had = known.places.get(segment.name, {}) if known is not None else {}
        places = {target: had[target] for target in targets if target in had}
        if len(places) < len(targets):
            reader = SegmentPlaces(store, segment)
            places.update((target, reader.of(target)) for target in targets if target not in had)
        found[segment.name] = dict(sorted(places.items()))
    return found


def _written(store: Store, placed: PlacedRules, round_number: int) -> FileEntry:
    body = _encode(placed)
    with store.write(data_name(RULES, 0, round_number)) as file:
        file.write(_HEAD.pack(crc32(body)) + body)
    return file_entry(file, RULES, 0, records=len(placed.rules.targets()) + len(placed.rules.synonyms))


def _decoded(data: bytes, name: str) -> PlacedRules:
    if len(data) < _HEAD.size or _HEAD.unpack_from(data)[0] != crc32(data[_HEAD.size :]):
        raise CorruptFile(name, 0, "the rules of search do not fit their checksum")
    try:
        return _decode(data[_HEAD.size :])
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, _HEAD.size, f"not the rules of search ({err})") from err
