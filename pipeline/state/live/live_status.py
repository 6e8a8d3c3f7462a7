"""LiveStatus: the progress of the command that holds the lease, `live/00000012-<owner>.json`.

A store has no files that change, so each status is a new file with the next number; the one before it is
deleted after that. A reader takes the highest number, and looks again if it was deleted meanwhile. The name
has the owner of the lease: a status counts only as long as its owner holds the lease. So the status of a
killed command is never taken for the status of a running command.

The file is not a part of the crawl. No snapshot names it, its loss does no harm, and it may hold names of
hosts and URLs, because it is deleted when the command ends, by the next command, or by `crawlctl gc`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import MissingFile
from crawlctl.pipeline.processes.process_mark import has_ended, is_here
from crawlctl.pipeline.progress.task_file import HostProgress, UrlProgress
from crawlctl.pipeline.state.layout import LIVE, live_name, said_by_live
from crawlctl.pipeline.state.leases.lease_records import latest_record
from crawlctl.pipeline.state.manifest import Moment

if TYPE_CHECKING:
    from crawlctl.pipeline.state.leases.lease_records import LeaseRecord
    from crawlctl.pipeline.store.base import Store

# how often reading the newest status is tried; a try fails only if the next was published meanwhile
LOOKS = 5


class LiveStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a command; the names are the names in `crawlctl status --watch --json`."""

    command: str
    published: Moment
    every: float  # seconds between two statuses
    step: str = ""  # the title of the step; empty between two steps
    began: Moment = 0.0  # when the step began
    unit: str = ""
    done: int = 0
    total: int = 0
    is_silent: bool = False  # the tasks run on other machines, and report only at their end
    per_second: float = 0.0
    eta: float | None = None  # seconds
    bytes: int = 0
    bytes_per_second: float = 0.0
    errors: int = 0
    failures: dict[str, int] = {}  # failed pages by cause
    asking: int = 0  # hosts with a request in progress
    waiting: int = 0  # hosts that must not be asked yet
    failing: int = 0  # hosts whose last request failed
    hosts: tuple[HostProgress, ...] = ()  # the hosts that will take the longest
    urls: tuple[UrlProgress, ...] = ()  # URLs being fetched, the longest first
    said: str = ""  # the last line that the command has printed


@dataclass(frozen=True)
class LiveView:
    """The lease and the live status of a store, read together.

    `holder` is the lease record if a command holds the lease, or if the last holder has died; `status` is the
    last status that it has published, None if there is none yet. A command is suspended if its lease has run
    out and its process, on this machine, has not ended: it may still continue.
    """

    holder: LeaseRecord | None = None
    status: LiveStatus | None = None
    has_died: bool = False
    is_suspended: bool = False

    @property
    def is_running(self) -> bool:
        """Whether a command uses the crawl now."""
        return self.holder is not None and not self.has_died


def put_live(store: Store, number: int, owner: str, status: LiveStatus, last_good: int | None = None) -> None:
    """Publish a status, and delete the statuses from `last_good` on (without it: the status before).

    `last_good` is the number of the last status that was published without an error. Later statuses may exist
    or not.
    """
    store.put_passing(live_name(number, owner), msgspec.json.encode(status) + b"\n")
    first = number - 1 if last_good is None else last_good
    if older := [live_name(one, owner) for one in range(max(1, first), number)]:
        store.delete_passing(older)


def drop_live(store: Store, number: int, owner: str, last_good: int | None = None) -> None:
    """Delete the last status of an owner, and earlier statuses that could not be deleted before."""
    first = number - 1 if last_good is None else last_good
    store.delete_passing([live_name(one, owner) for one in range(max(1, first), number + 1)])


def drop_left_over(store: Store, owner: str) -> None:
    """Delete the statuses that commands before this owner have left."""
    names = [file.name for file in store.list(f"{LIVE}/")]
    store.delete_passing([name for name in names if (said := said_by_live(name)) and said[1] != owner])


def look(store: Store, now: float) -> LiveView:
    """Return the view of the command that uses the store, or that has died while using it."""
    _, record = latest_record(store)
    if record is None or record.released:
        return LiveView()
    status = read_live(store, record.owner)
    if not record.is_free(now):
        return LiveView(record, status)
    if status is None:
        return LiveView()
    is_alive = is_here(record.process) and not has_ended(record.process)
    return LiveView(record, status, has_died=not is_alive, is_suspended=is_alive)


def read_live(store: Store, owner: str) -> LiveStatus | None:
    """Return the newest status of an owner; None if there is none, or it cannot be read."""
    for _ in range(LOOKS):
        said = ((said_by_live(file.name), file.name) for file in store.list(f"{LIVE}/"))
        names = {found[0]: name for found, name in said if found and found[1] == owner}
        if not names:
            return None
        with suppress(MissingFile):
            return _decoded(store.read(names[max(names)]))
    return None


def _decoded(data: bytes) -> LiveStatus | None:
    try:
        return msgspec.json.decode(data, type=LiveStatus)
    # of another version, or damaged: a new status will follow
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
