"""Keeps the C library from returning memory to the system, because the next batch needs it again.

Each batch makes and frees some fifty arrays of about a megabyte. By default glibc unmaps such blocks or trims
the heap, and the system then zeroes the same pages again and again: a process that indexed 4,000 pages had
138,000 page faults, and 58,000 with `keep_freed_memory`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

_LARGEST_LEARNT = (32 << 20) - (64 << 10)  # bytes: glibc does not learn from blocks above 32 MB


@cache
def keep_freed_memory() -> None:
    """Let about 64 MB of freed memory stay with the process; no effect with C libraries other than glibc.

    When a block that glibc has mapped by itself is freed, glibc raises two limits: it maps only larger blocks
    from then on, and it trims the heap only when twice that size is free. The block that is made and freed
    here is never touched, so it takes no memory.
    """
    np.empty(_LARGEST_LEARNT, np.uint8)
