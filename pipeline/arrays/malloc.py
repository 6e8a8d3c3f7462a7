"""Tells the C library to keep freed memory for the next batch, and to share it among threads.

Each batch makes and frees some fifty arrays of about a megabyte. By default glibc unmaps such blocks or trims
the heap, and the system then zeroes the same pages again and again: a process that indexed 4,000 pages had
138,000 page faults, and 58,000 with `keep_freed_memory`.
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

_ARENA_MAX = -8  # the number of this option in glibc's malloc.h
_LARGEST_LEARNT = (32 << 20) - (64 << 10)  # bytes: glibc does not learn from blocks above 32 MB


@cache
def keep_freed_memory() -> None:
    """Let about 64 MB of freed memory stay with the process; no effect with C libraries other than glibc.

    When a block that glibc has mapped by itself is freed, glibc raises two limits: it maps only larger blocks
    from then on, and it trims the heap only when twice that size is free. The block that is made and freed
    here is never touched, so it takes no memory.
    """
    np.empty(_LARGEST_LEARNT, np.uint8)


def share_one_heap() -> None:
    """Let all threads of this process share one heap; no effect with C libraries other than glibc.

    By default glibc gives each thread a heap of its own, and each heap keeps what was freed in it. A server
    searches in one thread and answers in another, and took 25 MB more. Call it before threads begin.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)
