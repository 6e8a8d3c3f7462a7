"""ProcessMark: identifies a process, so that other processes can find out whether it has ended.

A pid is not enough: the system uses it again, and it means another process in another container or after a
reboot. So the mark also has the id of the boot and the pid namespace of the machine, and the start time of
the process.
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
    """One process; `machine` and `started` are empty if the system does not report them."""

    host: str
    machine: str
    pid: Annotated[int, msgspec.Meta(ge=1, le=(1 << 31) - 1)]
    started: str


def this_process() -> ProcessMark:
    """Return the mark of this process."""
    pid = os.getpid()
    return ProcessMark(socket.gethostname(), machine(), pid, _look(pid)[1])


def has_ended(mark: ProcessMark) -> bool:
    """Return whether a process has certainly ended; False for a process on another machine."""
    if not is_here(mark):
        return False
    try:
        os.kill(mark.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it runs under another user
    state, started = _look(mark.pid)
    return state.startswith(_ENDED) or ("" not in (started, mark.started) and started != mark.started)


def is_here(mark: ProcessMark) -> bool:
    """Return whether a process certainly belongs to this boot of this machine."""
    return bool(mark.machine) and (mark.host, mark.machine) == (socket.gethostname(), machine())


@functools.cache
def machine() -> str:
    """Return an id of this boot of this machine, empty if the system has none."""
    try:
        return f"{_BOOT_ID.read_text().strip()} {_PID_NAMESPACE.readlink()}"
    except OSError:
        return _ask("/usr/sbin/sysctl", "-n", "kern.bootsessionuuid")  # macOS


def _look(pid: int) -> tuple[str, str]:
    """Return the state and start time of a process, empty if the system does not report them."""
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
