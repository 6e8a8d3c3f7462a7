"""The nodes of the graph: the URLs of the WebDB in its order, and which of them are pages.

A URL that has moved, or that names another page as its canonical one, is an alias: links to it lead to that
page. A URL that is gone or was given up is no page either: links to it do not count. All other URLs are
members, also URLs that are not fetched yet. Pages that may not be fetched, or are kept out of the index, are
members too, but their own links are not known.

The nodes of a partition are one file with the arrays

    flags       MEMBER, HAS_DOCUMENT, SEED, per node
    hashes      the stable hashes of the URLs of members, sorted
    ordinals    the node of each of these hashes
    shards      where the hashes of each shard begin, and the end of the last
    names, pages    the hashes of aliases, and of the URLs that they lead to; 0 for none
    hosts       the first node of each host, whose names are in the directory of the file
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crawlctl.pipeline.rank.graph.array_file import write_arrays
from crawlctl.pipeline.rank.graph.graph_files import MEMBERS, NODES, SEED_NODES
from crawlctl.pipeline.urls.hosts import host_ranges, stable_digest, stable_hash, url_in_key
from crawlctl.pipeline.webdb.packed import leading_fields
from crawlctl.pipeline.webdb.part import open_part
from crawlctl.pipeline.webdb.records import LIVE, Status, decode_entry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

MAX_HOPS = 8  # the most steps from an alias to its page

_ALIASES = frozenset({Status.REDIRECTED, Status.DUPLICATE})
_NO_PAGES = _ALIASES | {Status.GONE, Status.FAILED}
_NO_HASH = np.uint64(0)


class Aliases(NamedTuple):
    """The hashes of aliases, sorted, and of the URLs that they lead to."""

    names: Hashes
    pages: Hashes

    def resolved(self, urls: Hashes) -> Hashes:
        """Return the hashes of URLs with aliases replaced by their pages, by 0 if they lead to no page."""
        if not len(self.names) or not len(urls):
            return urls
        at = np.minimum(np.searchsorted(self.names, urls), len(self.names) - 1)
        return np.where(self.names[at] == urls, self.pages[at], urls)


def survey(store: Store, snapshot: Snapshot, partition: int, round_number: int) -> FileEntry:
    """Write the nodes of a partition of the WebDB and return the file."""
    scan = _Scan()
    part = open_part(store, snapshot, partition)
    for block in part.blocks() if part else ():
        scan.add(block, part.name if part else "webdb")
    flags = np.frombuffer(bytes(scan.flags), np.uint8)
    hashes = np.frombuffer(b"".join(scan.hashes), ">u8").astype(np.uint64)
    members = np.flatnonzero(flags & MEMBER)
    arrays: dict[str, NDArray[Any]] = {
        "flags": flags,
        **member_arrays(hashes[members], members, snapshot.partitions),
        "names": np.array(scan.names, np.uint64),
        "pages": np.array(scan.pages, np.uint64),
        "hosts": np.array(scan.hosts, np.uint32),
    }
    return write_nodes(store, arrays, scan.host_names, partition=partition, round_number=round_number)


def member_arrays(hashes: Hashes, ordinals: NDArray[np.integer], shards: int) -> dict[str, NDArray[Any]]:
    """Return the arrays by which members are found: sorted hashes, ordinals, and where each shard begins.

    A shard is a range of all hashes; a task that looks up hashes of one shard reads only that range.
    """
    order = np.argsort(hashes)
    return {
        "hashes": hashes[order],
        "ordinals": ordinals[order].astype(np.uint32),
        "shards": cut_into_shards(hashes[order], shards).astype(np.uint32),
    }


def write_nodes(
    store: Store,
    arrays: Mapping[str, NDArray[Any]],
    host_names: Sequence[str],
    *,
    partition: int,
    round_number: int,
) -> FileEntry:
    """Write a file of nodes: the arrays that `survey` makes, and the names of the hosts."""
    flags = arrays["flags"]
    return write_arrays(
        store,
        arrays,
        partition=partition,
        round_number=round_number,
        records=len(flags),
        facts={"what": "nodes", "hosts": host_names},
        counters={
            NODES: len(flags),
            MEMBERS: int(np.count_nonzero(flags & MEMBER)),
            SEED_NODES: int(np.count_nonzero(flags & SEED)),
        },
    )


class _Scan:
    """Gathers the nodes of a part of the WebDB, block by block."""

    def __init__(self) -> None:
        self.flags = bytearray()
        self.hashes: list[bytes] = []
        self.names: list[int] = []
        self.pages: list[int] = []
        self.hosts: list[int] = []  # the first node of each host
        self.host_names: list[str] = []
        self._host = b""

    def add(self, block: Block, name: str) -> None:
        """Add the entries of a block of the part `name`."""
        for host, start, end in host_ranges(block.keys):
            if host != self._host:
                self._host = host
                self.hosts.append(len(self.flags))
                self.host_names.append(host.decode("ascii", "replace"))
            for key, value in zip(block.keys[start:end], block.values[start:end], strict=True):
                digest = stable_digest(url_in_key(key))
                self.hashes.append(digest)
                self._add_node(digest, value, name, block.offset)

    def _add_node(self, digest: bytes, value: bytes, name: str, offset: int) -> None:
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
    """Return the index of the first hash of each shard in sorted hashes, and the end of the last shard."""
    firsts = np.array([(number << 64) // shards for number in range(shards)], np.uint64)
    return np.append(np.searchsorted(hashes, firsts), len(hashes))


def read_aliases(files: Sequence[ArrayFile]) -> Aliases:
    """Return the aliases of all partitions, each with the page at the end of its chain of aliases."""
    names = np.concatenate([file.read("names").astype(np.uint64) for file in files])
    pages = np.concatenate([file.read("pages").astype(np.uint64) for file in files])
    order = np.argsort(names)
    first = aliases = Aliases(names[order], pages[order])
    for _ in range(MAX_HOPS):
        following = first.resolved(aliases.pages)
        if np.array_equal(following, aliases.pages):
            return aliases
        aliases = aliases._replace(pages=following)
    # The chains that have not ended by now are circles, or too long.
    lost = np.isin(aliases.pages, aliases.names)
    return aliases._replace(pages=np.where(lost, _NO_HASH, aliases.pages))


def find(sorted_hashes: Hashes, wanted: Hashes) -> NDArray[np.int64]:
    """Return the index of each wanted hash in sorted hashes, −1 for a hash that is not there."""
    if not len(sorted_hashes):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(sorted_hashes, wanted), len(sorted_hashes) - 1)
    return np.where(sorted_hashes[at] == wanted, at, -1)
