"""Recognises a process later, also from another one, and tells when it has certainly ended.

A pid alone does not do: it is used again, and means another process in another container or after a restart
of the machine. So the machine is known by the id of its boot and the namespace of its pids, and the process
by when it started.
"""

from __future__ import annotations

import functools
import os
import socket
from pathlib import Path
from typing import Annotated

import msgspec

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_PID_NAMESPACE = Path("/proc/self/ns/pid")
_ENDED = ("Z", "X")  # zombie, dead: their pid is still taken


class ProcessMark(msgspec.Struct, frozen=True):
    """A process: `machine` and `started` are empty where the system does not tell."""

    host: str
    machine: str
    pid: Annotated[int, msgspec.Meta(ge=1, le=(1 << 31) - 1)]
    started: str


def this_process() -> ProcessMark:
    """Return the mark of the process that runs this."""
    pid = os.getpid()
    return ProcessMark(socket.gethostname(), machine(), pid, _look(pid)[1])


def has_ended(mark: ProcessMark) -> bool:
    """Tell whether a process has certainly ended; of another machine that cannot be known."""
    if not mark.machine or (mark.host, mark.machine) != (socket.gethostname(), machine()):
        return False
    try:
        os.kill(mark.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it runs, as another user
    state, started = _look(mark.pid)
    return state.startswith(_ENDED) or ("" not in (started, mark.started) and started != mark.started)


@functools.cache
def machine() -> str:
    """Return what tells this run of this machine from every other one, empty if nothing does."""
    try:
        return f"{_BOOT_ID.read_text().strip()} {_PID_NAMESPACE.readlink()}"
    except OSError:
        return _ask("/usr/sbin/sysctl", "-n", "kern.bootsessionuuid")  # macOS


def _look(pid: int) -> tuple[str, str]:
    """Return the state of a process and when it started, empty where the system does not tell."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return after_name[0], after_name[19]  # fields 3 and 22 of proc(5)
    except (OSError, IndexError):
        state, _, started = _ask("/bin/ps", "-o", "state=,lstart=", "-p", str(pid)).partition(" ")
        return state, " ".join(started.split())


def _ask(*command: str) -> str:
    import subprocess

    try:
        answer = subprocess.run(command, capture_output=True, timeout=5, env={"LC_ALL": "C"}, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.decode(errors="replace").strip()
