"""The processes of the test cluster: started apart from us, known again by their pid and a mark."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.tests.processes import command_of, is_alive

if TYPE_CHECKING:
    from pathlib import Path

LOG_LINES = 60
STOP_SECONDS = 20


@dataclass(frozen=True)
class Daemon:
    """A process that goes on when whoever started it is gone."""

    name: str
    command: tuple[str, ...]
    mark: str  # part of its command line; a pid alone may belong to somebody else by now


def launch(daemon: Daemon, log: Path, env: dict[str, str]) -> int:
    """Start a daemon and return its pid; a Popen would complain that nobody waits for it."""
    created = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = (
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), created, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    )
    environment = {**os.environ, **env}
    pid = os.posix_spawnp(daemon.command[0], daemon.command, environment, file_actions=files, setsid=True)
    # We may go on before the new process has its command line, by which it is told from others later.
    while is_alive(pid) and not command_of(pid):
        time.sleep(0.001)
    return pid


def is_running(pid: int, mark: str) -> bool:
    """Tell whether the process is there and still the one that was started."""
    return is_alive(pid) and mark in command_of(pid)


def stop(pids: dict[str, int], mark: str) -> None:
    """End the processes that are still ours, the last started first, and see them gone."""
    for name in reversed(pids):
        _signal(pids[name], mark, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while time.monotonic() < deadline and any(is_running(pid, mark) for pid in pids.values()):
        time.sleep(0.05)
    for pid in pids.values():
        _signal(pid, mark, signal.SIGKILL)


def _signal(pid: int, mark: str, number: signal.Signals) -> None:
    if is_running(pid, mark):
        os.kill(pid, number)


def end_of(log: Path) -> str:
    """Return the last lines of a log, for the one who wonders why a daemon is not there."""
    if not log.exists():
        return "(no log)"
    return "\n".join(log.read_text(errors="replace").splitlines()[-LOG_LINES:])
