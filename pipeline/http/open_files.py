"""How many connections the system lets a process have: each of them is an open file."""

from __future__ import annotations

import logging
import os
import resource
from contextlib import suppress
from typing import NamedTuple

from crawlctl.pipeline.errors import CrawlctlError

log = logging.getLogger(__name__)

# For files of the store, pipes of the parser, look-ups of names and the like that open beside connections.
_SPARE = 40
# With fewer than this nothing can be fetched: one connection, its look-up, one file of the store.
_LEAST = 6


class Room(NamedTuple):
    """How many transfers may be under way, and how many connections be open, those that lie idle included."""

    transfers: int
    connections: int


def make_room(transfers: int) -> Room:
    """Raise the limit of open files as far as the transfers need it, and return how many have room."""
    # As many connections as are busy may lie idle, for hosts whose turn comes round again.
    used, wanted = _open_files(), 2 * transfers
    free = _raise_limit(used + wanted + _SPARE) - used
    if free >= wanted + _SPARE:
        return Room(transfers, wanted)
    if free < _LEAST:
        raise CrawlctlError(
            f"the system lets this process open {max(0, free)} more files, too few to fetch; "
            "raise the hard limit (ulimit -Hn) to 256 or more"
        )
    connections = max(1, free - min(_SPARE, free * 3 // 4))
    room = Room(min(transfers, max(1, connections * 2 // 3)), connections)
    if room.transfers < transfers:
        log.warning(
            "fetch.connections is %d, but the system lets this process open %d more files: %d at once; "
            "raise the hard limit (ulimit -Hn)",
            transfers,
            free,
            room.transfers,
        )
    return room


def _open_files() -> int:
    """Return how many files are open, by the number of the next one: the system gives out the lowest."""
    probe = os.open(os.devnull, os.O_RDONLY)
    os.close(probe)
    return probe


def _raise_limit(wanted: int) -> int:
    """Raise the soft limit of open files to `wanted` or as far as it goes, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted if soft == resource.RLIM_INFINITY else soft
    raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    # macOS refuses more than its kern.maxfilesperproc whatever the hard limit says.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        return raised
    return soft
