"""The number of cores that this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Return the number of cores this process may use; in a container it is often less than the machine's."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
