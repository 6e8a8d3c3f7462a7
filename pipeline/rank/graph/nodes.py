"""The nodes of the graph: the URLs of the WebDB in the order of its parts, and which of them are pages.

A page that moved, or that names another in its place, is no page of its own: links to it lead on. Neither is
one that is gone or was given up: links to it count for nothing. All others are members, those not fetched yet
too; pages that may not be fetched or are kept out of the index are known by their links alone.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crawlctl.pipeline.rank.graph.array_file import write_arrays
from crawlctl.pipeline.urls.hosts import host_ranges, stable_hash, url_in_key
from crawlctl.pipeline.webdb.packed import leading_fields
from crawlctl.pipeline.webdb.part import open_part
from crawlctl.pipeline.webdb.records import LIVE, Status, decode_entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.rank.graph.array_file import ArrayFile
    from crawlctl.pipeline.rank.graph.link_sources import Hashes
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

# Bits of the flags of a node.
MEMBER = 1
HAS_DOCUMENT = 2
SEED = 4

MAX_HOPS = 8  # from a URL to the page it stands for

_ALIASES = frozenset({Status.REDIRECTED, Status.DUPLICATE})
_NO_PAGES = _ALIASES | {Status.GONE, Status.FAILED}
_NO_HASH = np.uint64(0)


class Aliases(NamedTuple):
    """URLs that stand for others, sorted, and the URLs they lead to, all by hash."""

    names: Hashes
    pages: Hashes

    def resolved(self, urls: Hashes) -> Hashes:
        """Return the URLs with those of the pages in place of aliases, 0 where an alias leads nowhere."""
        if not len(self.names) or not len(urls):
            return urls
        at = np.minimum(np.searchsorted(self.names, urls), len(self.names) - 1)
        return np.where(self.names[at] == urls, self.pages[at], urls)


def survey(store: Store, snapshot: Snapshot, partition: int, round_number: int) -> FileEntry:
    """Write the nodes of a partition.

    The hashes of members are sorted; where those of each shard begin, a range of all hashes, is in the file,
    so that whoever looks some up reads the ranges it needs.
    """
    scan = _Scan()
    part = open_part(store, snapshot, partition)
    for block in part.blocks() if part else ():
        scan.add(block, part.name if part else "webdb")
    flags = np.frombuffer(bytes(scan.flags), np.uint8)
    hashes = np.frombuffer(b"".join(scan.hashes), ">u8").astype(np.uint64)
    members = np.flatnonzero(flags & MEMBER)
    order = members[np.argsort(hashes[members])]
    counts = {
        "nodes": len(flags),
        "members": len(members),
        "seeds": int(np.count_nonzero(flags & SEED)),
    }
    arrays: dict[str, NDArray[Any]] = {
        "flags": flags,
        "hashes": hashes[order],
        "ordinals": order.astype(np.uint32),
        "shards": cut_into_shards(hashes[order], snapshot.partitions).astype(np.uint32),
        "names": np.array(scan.names, np.uint64),
        "pages": np.array(scan.pages, np.uint64),
        "hosts": np.array(scan.hosts, np.uint32),
    }
    return write_arrays(
        store,
        arrays,
        partition=partition,
        round_number=round_number,
        records=len(flags),
        facts={"what": "nodes", "hosts": scan.host_names},
        counters=counts,
    )


class _Scan:
    """What a pass over a part gathers."""

    def __init__(self) -> None:
        self.flags = bytearray()
        self.hashes: list[bytes] = []
        self.names: list[int] = []
        self.pages: list[int] = []
        self.hosts: list[int] = []  # the first node of each
        self.host_names: list[str] = []
        self._host = b""

    def add(self, block: Block, name: str) -> None:
        for host, start, end in host_ranges(block.keys):
            if host != self._host:
                self._host = host
                self.hosts.append(len(self.flags))
                self.host_names.append(host.decode("ascii", "replace"))
            for key, value in zip(block.keys[start:end], block.values[start:end], strict=True):
                # As stable_hash does, which looks up the type of its argument.
                digest = blake2b(url_in_key(key)).digest()[:8]
                self.hashes.append(digest)
                self._judge(digest, value, name, block.offset)

    def _judge(self, digest: bytes, value: bytes, name: str, offset: int) -> None:
        entry = leading_fields(value, name, offset)
        if entry.status in _ALIASES:
            whole = decode_entry(value, name, offset)
            target = whole.redirect_to or whole.canonical
            self.names.append(int.from_bytes(digest, "big"))
            self.pages.append(stable_hash(target) if target else 0)
        flags = 0 if entry.status in _NO_PAGES else MEMBER
        flags |= HAS_DOCUMENT if entry.status in LIVE else 0
        self.flags.append(flags | (SEED if entry.depth == 0 and flags else 0))


def cut_into_shards(hashes: Hashes, shards: int) -> NDArray[np.int64]:
    """Return where the hashes of each shard begin among sorted ones, and where those of the last end."""
    firsts = np.array([(number << 64) // shards for number in range(shards)], np.uint64)
    return np.append(np.searchsorted(hashes, firsts), len(hashes))


def read_aliases(files: Sequence[ArrayFile]) -> Aliases:
    """Return the aliases of all partitions, each with the page at the end of its way."""
    names = np.concatenate([file.read("names").astype(np.uint64) for file in files])
    pages = np.concatenate([file.read("pages").astype(np.uint64) for file in files])
    order = np.argsort(names)
    first = aliases = Aliases(names[order], pages[order])
    for _ in range(MAX_HOPS):
        following = first.resolved(aliases.pages)
        if np.array_equal(following, aliases.pages):
            return aliases
        aliases = aliases._replace(pages=following)
    # What still leads on goes in circles, or further than anybody would follow.
    lost = np.isin(aliases.pages, aliases.names)
    return aliases._replace(pages=np.where(lost, _NO_HASH, aliases.pages))


def find(sorted_hashes: Hashes, wanted: Hashes) -> NDArray[np.int64]:
    """Return where each wanted hash stands among sorted ones, −1 for those that are not there."""
    if not len(sorted_hashes):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(sorted_hashes, wanted), len(sorted_hashes) - 1)
    return np.where(sorted_hashes[at] == wanted, at, -1)
