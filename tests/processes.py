"""Looks at processes that are not our own children, by /proc where there is one: ps may be missing."""

from __future__ import annotations

import subprocess
from pathlib import Path


def look_at(pid: int) -> tuple[str, int] | None:
    """Return the state and the parent of a process, None when it is gone."""
    if Path("/proc/self/stat").exists():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            return None
        return fields[0], int(fields[1])
    command = ["ps", "-o", "stat=,ppid=", "-p", str(pid)]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    return (found[0], int(found[1])) if found else None


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that is dead and unburied does not count."""
    found = look_at(pid)
    return found is not None and not found[0].startswith(("Z", "X"))


def command_of(pid: int) -> str:
    """Return the command line of a process, or nothing when it is gone."""
    if Path("/proc/self/stat").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    command = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
