"""LivePublisher: writes what a command does into the store, from its own thread.

The thread gets the same input as the display: the steps, each with the folder of its progress files, and the
lines. A store that is slow or cannot be reached delays only this thread. Its errors are ignored, because the
command will meet the same errors where they matter. At its end the command waits for the thread at most one
second.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.progress.display import Display, ShownStep
from crawlctl.pipeline.progress.figures import Meter
from crawlctl.pipeline.progress.task_file import is_silent, read_progress
from crawlctl.pipeline.state.live.live_status import LiveStatus, drop_left_over, drop_live, put_live

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.state.leases.lease import Lease
    from crawlctl.pipeline.store.base import Store

FIRST_SECONDS = 1.0  # a command that ends earlier publishes nothing
DISK_SECONDS = 1.0  # seconds between two statuses
REMOTE_SECONDS = 10.0  # the same on S3 and HDFS, where each status takes several requests
PATIENCE = 1.0  # the most seconds that the command waits for the thread at its end
_SAID_CHARS = 200


@contextmanager
def publishing(store: Store, lease: Lease, command: str, display: Display) -> Iterator[Display]:
    """Publish what a command does while the block runs; yield the display through which it must report."""
    publisher = LivePublisher(store, lease.owner, command)
    thread = threading.Thread(target=publisher.run, name="live status", daemon=True)
    thread.start()
    try:
        yield PublishingDisplay(display, publisher)
    finally:
        if lease.is_own:  # a forked process has no such thread, and its copy of the event may be locked
            publisher.ended.set()
            thread.join(PATIENCE)


@dataclass(frozen=True)
class _RunningStep:
    """A step that runs, and when it began, in UTC seconds."""

    shown: ShownStep
    began: float
    meter: Meter


class LivePublisher:
    """Knows the running step and the last line of a command, and publishes them until `ended` is set."""

    def __init__(self, store: Store, owner: str, command: str) -> None:
        self.ended = threading.Event()
        self.said = ""
        self._store = store
        self._owner = owner
        self._command = command
        self._every = REMOTE_SECONDS if "://" in store.uri else DISK_SECONDS
        self._step: _RunningStep | None = None
        self._number = 0  # the number of the last status that was tried
        self._last_good = 0  # the number of the last status that was published without an error

    def run(self) -> None:
        """Publish at regular times; at the end delete the published statuses."""
        pause = FIRST_SECONDS
        while not self.ended.wait(pause):
            pause = self._every
            with suppress(CrawlctlError, OSError):
                self.publish()
        if self._number:
            with suppress(CrawlctlError, OSError):
                drop_live(self._store, self._number, self._owner, self._last_good)

    def publish(self) -> None:
        """Publish a status; the first time, delete the statuses that a killed command has left."""
        if not self._number:
            drop_left_over(self._store, self._owner)
        self._number += 1
        put_live(self._store, self._number, self._owner, self.status(), self._last_good)
        self._last_good = self._number

    @contextmanager
    def step(self, step: ShownStep) -> Iterator[None]:
        """Publish the progress of a step while the block runs."""
        self._step = _RunningStep(step, time.time(), Meter(step.total, step.deadline))
        try:
            yield
        finally:
            self._step = None

    def status(self) -> LiveStatus:
        """Return what the command does now."""
        running, now = self._step, time.time()
        if running is None:
            return LiveStatus(command=self._command, published=now, every=self._every, said=self.said)
        step = running.shown
        figures = running.meter.measure(read_progress(step.folder))
        progress = figures.progress
        return LiveStatus(
            command=self._command,
            published=now,
            every=self._every,
            step=step.title,
            began=running.began,
            unit=step.unit,
            done=progress.done,
            total=max(step.total, progress.done),
            is_silent=is_silent(step.folder),
            per_second=round(figures.per_second, 2),
            eta=figures.eta,
            bytes=progress.bytes,
            bytes_per_second=round(figures.bytes_per_second, 1),
            errors=progress.errors,
            failures=progress.failures,
            asking=progress.asking,
            waiting=progress.waiting,
            failing=progress.failing,
            hosts=progress.hosts,
            urls=progress.urls,
            said=self.said,
        )


class PublishingDisplay(Display):
    """Shows everything on another display, and passes it to the publisher."""

    def __init__(self, display: Display, publisher: LivePublisher) -> None:
        self._display = display
        self._publisher = publisher

    def say(self, text: str) -> None:
        """Show the user a line."""
        self._publisher.said = text[:_SAID_CHARS]
        self._display.say(text)

    @contextmanager
    def step(self, step: ShownStep) -> Iterator[None]:
        """Show the progress of a step, here and in the store."""
        with self._publisher.step(step), self._display.step(step):
            yield
