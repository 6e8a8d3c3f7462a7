"""Progress files: each task writes how far it is into a small file, and the driver reads it.

Tasks run in other processes, and mrjob has no way for them to report before they end. One file per task is
the simplest solution: a killed task leaves nothing to clean up, and on a cluster, where the folder does not
exist, a task reports nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from functools import reduce
from pathlib import Path

import msgspec

RECORD_BYTES = 8192  # fixed, so that a new record overwrites the old one
MOST_HOSTS = 20  # the most hosts that a record names
MOST_URLS = 10
_HOST_CHARS = 100
_REASON_CHARS = 60
_URL_CHARS = 200
_MOST_CAUSES = 20  # the most causes of failures in a record; a cause has about twenty characters


class HostProgress(msgspec.Struct, frozen=True, array_like=True):
    """A host that a fetch task has still to ask, or is asking."""

    host: str
    left: int = 0  # URLs that wait
    asking: int = 0  # requests in progress
    until: float = 0.0  # when it may be asked again, in UTC seconds; 0 if it may be asked now
    reason: str = ""  # the reason of its last failure; empty if it answers
    seconds: float = 0.0  # the estimated time that it still needs

    def bounded(self) -> HostProgress:
        """Return the record with names that fit the file; a reason that was cut ends in an ellipsis."""
        is_long = len(self.reason) > _REASON_CHARS
        reason = f"{self.reason[: _REASON_CHARS - 1].rstrip()}…" if is_long else self.reason
        return msgspec.structs.replace(self, host=self.host[:_HOST_CHARS], reason=reason)


class UrlProgress(msgspec.Struct, frozen=True, array_like=True):
    """A URL that is being fetched."""

    url: str
    since: float  # when its transfer began, in UTC seconds

    def bounded(self) -> UrlProgress:
        """Return the record with a URL that is not too long for the file."""
        return UrlProgress(self.url[:_URL_CHARS], self.since)


class Progress(msgspec.Struct, frozen=True, array_like=True):
    """What one task, or all tasks together, have done so far."""

    done: int = 0  # finished items, also of earlier attempts
    total: int = 0
    bytes: int = 0
    errors: int = 0
    asking: int = 0  # hosts with a request in progress
    waiting: int = 0  # hosts that must not be asked yet
    failing: int = 0  # hosts whose last request failed
    seconds: float = 0.0  # the estimated time that the slowest host still needs
    earlier: int = 0  # the items of `done` that earlier attempts have done
    hosts: tuple[HostProgress, ...] = ()  # the slowest ones first
    failures: dict[str, int] = {}  # failed pages by cause
    urls: tuple[UrlProgress, ...] = ()  # under way, the oldest ones first

    def __add__(self, other: Progress) -> Progress:
        hosts = sorted((*self.hosts, *other.hosts), key=lambda host: -host.seconds)
        return Progress(
            self.done + other.done,
            self.total + other.total,
            self.bytes + other.bytes,
            self.errors + other.errors,
            self.asking + other.asking,
            self.waiting + other.waiting,
            self.failing + other.failing,
            max(self.seconds, other.seconds),
            self.earlier + other.earlier,
            tuple(hosts[:MOST_HOSTS]),
            dict(Counter(self.failures) + Counter(other.failures)),
            tuple(sorted((*self.urls, *other.urls), key=lambda url: url.since)[:MOST_URLS]),
        )


_decoder = msgspec.json.Decoder(Progress)


class ProgressFile:
    """The progress file of one task; without a folder, or if it does not exist, nothing is written."""

    def __init__(self, folder: str, task: int | str) -> None:
        self._descriptor: int | None = None
        if folder:
            with suppress(OSError):
                flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
                self._descriptor = os.open(Path(folder, f"{task}.json"), flags, 0o666)

    def write(self, progress: Progress) -> None:
        """Write the progress; a full disk does not stop the task."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.pwrite(self._descriptor, _record(progress), 0)

    def close(self) -> None:
        """Close the file; it stays in its folder."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_silent(folder: Path) -> bool:
    """Return whether no task has reported: it is too early, or the tasks run on other machines."""
    return all(_read(path) == Progress() for path in folder.glob("*.json"))


def read_progress(folder: Path) -> Progress:
    """Return the summed progress of all tasks that report to a folder."""
    return reduce(Progress.__add__, map(_read, sorted(folder.glob("*.json"))), Progress())


def _record(progress: Progress) -> bytes:
    """Return the bytes of a record; hosts and URLs that do not fit are left out."""
    hosts = tuple(host.bounded() for host in progress.hosts[:MOST_HOSTS])
    urls = tuple(url.bounded() for url in progress.urls[:MOST_URLS])
    progress = msgspec.structs.replace(
        progress, failures=dict(Counter(progress.failures).most_common(_MOST_CAUSES))
    )
    while True:
        record = msgspec.json.encode(msgspec.structs.replace(progress, hosts=hosts, urls=urls))
        if len(record) <= RECORD_BYTES or not (hosts or urls):
            return record.ljust(RECORD_BYTES)
        hosts, urls = (hosts, urls[:-1]) if urls else (hosts[:-1], urls)


def _read(path: Path) -> Progress:
    try:
        return _decoder.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):  # not written yet
        return Progress()
