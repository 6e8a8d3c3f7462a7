"""How many connections fit into the system's limit of open files."""

from __future__ import annotations

import logging
import os
import resource
from contextlib import suppress
from typing import NamedTuple

from crawlctl.pipeline.errors import CrawlctlError

log = logging.getLogger(__name__)

# Open files kept free for the store, the pipes to the parser, DNS look-ups and the like.
_SPARE = 40
# The minimum: one connection, its DNS look-up, one file of the store.
_LEAST = 6


class ConnectionLimits(NamedTuple):
    """How many transfers may run at once, and how many connections may be open, idle ones included."""

    transfers: int
    connections: int


def make_room(transfers: int) -> ConnectionLimits:
    """Raise the soft limit of open files for this many transfers; return how many fit."""
    # For each busy connection one idle connection is kept open, for hosts that are asked again soon.
    used, wanted = _open_files(), 2 * transfers
    free = _raise_limit(used + wanted + _SPARE) - used
    if free >= wanted + _SPARE:
        return ConnectionLimits(transfers, wanted)
    if free < _LEAST:
        raise CrawlctlError(
            f"the system lets this process open {max(0, free)} more files, too few to fetch; "
            "raise the hard limit (ulimit -Hn) to 256 or more"
        )
    connections = max(1, free - min(_SPARE, free * 3 // 4))
    room = ConnectionLimits(min(transfers, max(1, connections * 2 // 3)), connections)
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
    """Return about how many files are open: the system gives the next file the lowest free number."""
    probe = os.open(os.devnull, os.O_RDONLY)
    os.close(probe)
    return probe


def _raise_limit(wanted: int) -> int:
    """Raise the soft limit of open files to `wanted`, but not above the hard limit, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted if soft == resource.RLIM_INFINITY else soft
    raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    # macOS refuses more than kern.maxfilesperproc, even below the hard limit.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        return raised
    return soft
