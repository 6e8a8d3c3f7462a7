"""Keeps the C library from returning memory to the system that the next batch asks for again.

Each batch makes and frees some fifty arrays of about a megabyte. Unless told otherwise, glibc unmaps such
blocks or trims the heap, and the system then zeroes the same pages again and again: a process that indexed
4,000 pages had 138,000 page faults, and 58,000 with this.
"""

from __future__ import annotations

from functools import cache

_LARGEST_SIGN = (32 << 20) - (64 << 10)  # glibc learns nothing from blocks above 32 MB


@cache
def keep_freed_memory() -> None:
    """Let some 64 MB that were freed stay with the process; other C libraries than glibc do as they please.

    A block that was mapped and is freed tells glibc from which size on to map blocks, and to trim the heap
    when twice as much lies free. The one made here is never touched, so it takes no memory.
    """
    import numpy as np

    np.empty(_LARGEST_SIGN, np.uint8)
