"""The live status as people read it: in one line, or as lines that fill a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from crawlctl.pipeline.fetch.failure_words import kind_in_words
from crawlctl.pipeline.processes.process_mark import is_here
from crawlctl.pipeline.progress.display import UNDER_WAY
from crawlctl.pipeline.progress.figures import Figures, counted_unit, duration, host_line, status_line
from crawlctl.pipeline.progress.task_file import Progress
from crawlctl.pipeline.state.leases.lease_records import CLOCK_SKEW
from crawlctl.pipeline.terminal.printable import escaped
from crawlctl.pipeline.terminal.utc import utc
from crawlctl.pipeline.terminal.wrapping import cut, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.state.leases.lease_records import LeaseRecord
    from crawlctl.pipeline.state.live.live_status import LiveStatus, LiveView

_INDENT = "  "
_MISSED = 3  # how many statuses in a row must be missing before a command is called silent


def now_doing(status: LiveStatus, room: int = 1_000) -> str:
    """Return one line about what a command is doing; figures that do not fit are left out."""
    if not status.step:
        return cut(f"between two steps{f': {escaped(status.said)}' if status.said else ''}", room)
    if status.is_silent:
        return cut(f"{status.step} {counted_unit(status.total, status.unit)}, {UNDER_WAY}", room)
    figures = Figures(_progress(status), status.per_second, status.bytes_per_second, status.eta)
    return status_line(status.step, status.done, status.total, status.unit, figures.parts(), room=room)


def live_lines(view: LiveView, room: int, height: int, now: float) -> Iterator[str]:
    """Yield at most `height` lines: the step, its failures, the hosts that hold it up, URLs under way."""
    lines = [cut(holder_line(view.holder), room)] if view.holder else []
    status = view.status
    if status is None:
        lines.append("it has said nothing yet")
    else:
        lines += [now_doing(status, room), *_silence(view, room, now), *_details(status, room, now)]
    yield from lines[: max(2, height)]


def holder_line(holder: LeaseRecord) -> str:
    """Return which command uses a crawl."""
    process = holder.process
    return f"crawlctl {holder.command}, process {process.pid} on {process.host} since {utc(holder.acquired)}"


def death_sentence(status: LiveStatus) -> str:
    """Return when a command has died, what it was doing, and what to type to continue."""
    when, doing = utc(status.published), now_doing(status)
    return f"`crawlctl {status.command}` died at about {when} ({doing}); type it again, it goes on from there"


def silence_sentence(status: LiveStatus) -> str:
    """Return since when a command that has not ended gives no sign, what it was doing, and what to expect."""
    when, doing = utc(status.published), now_doing(status)
    return (
        f"no sign since {when} ({doing}); its process has not ended: it is suspended or hangs, and goes on "
        "when it is resumed, unless another command uses the crawl before"
    )


def live_json(status: LiveStatus) -> dict[str, Any]:
    """Return a status for `--json`: unlike in the store, hosts and URLs have field names."""
    fields = {name: getattr(status, name) for name in status.__struct_fields__}
    rows = {name: [asdict(row) for row in fields[name]] for name in ("hosts", "urls")}
    return {**fields, **rows}


def _silence(view: LiveView, room: int, now: float) -> Iterator[str]:
    """Yield lines about a command that gives no sign; the clock of another machine may be slow."""
    if view.status is None or view.holder is None:
        return
    silent, skew = now - view.status.published, 0.0 if is_here(view.holder.process) else CLOCK_SKEW
    if silent > _MISSED * view.status.every + skew:
        about = "about " if skew else ""
        yield from wrapped(f"no sign for {about}{duration(silent)}: the command or the store is slow", room)


def _details(status: LiveStatus, room: int, now: float) -> Iterator[str]:
    if status.failures:
        causes = sorted(status.failures.items(), key=lambda cause: -cause[1])
        told = ", ".join(f"{number:,} {kind_in_words(kind)}" for kind, number in causes)
        yield from wrapped(f"failed: {told}", room, _INDENT)
    if status.hosts:
        hosts = len(status.hosts)
        yield "the host that needs the longest:" if hosts == 1 else f"{hosts} hosts that need the longest:"
        yield from (host_line(host, room, now) for host in status.hosts)
    if status.urls:
        yield "under way the longest:"
        for url in status.urls:
            waited = f"{max(0.0, now - url.since):.0f} s"
            yield cut(f"{_INDENT}{waited:>5}  {escaped(url.url)}", room)


def _progress(status: LiveStatus) -> Progress:
    return Progress(
        done=status.done,
        total=status.total,
        bytes=status.bytes,
        errors=status.errors,
        asking=status.asking,
        waiting=status.waiting,
        failing=status.failing,
    )
