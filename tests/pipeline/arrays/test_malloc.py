from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

COUNT_FAULTS = """
import resource, sys
import numpy as np
from crawlctl.pipeline.arrays.malloc import keep_freed_memory

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def batch():
    return [np.ones(3 << 20, np.uint8) for _ in range(6)]

if sys.argv[1] == "keep":
    keep_freed_memory()
batch()
before = faults()
for _ in range(10):
    batch()
print(faults() - before)
"""

# A heap beside the first one reserves 64 MB of addresses.
COUNT_HEAPS = """
import re, sys, threading
from pathlib import Path
from crawlctl.pipeline.arrays.malloc import share_one_heap

if sys.argv[1] == "share":
    share_one_heap()
texts = []
thread = threading.Thread(target=lambda: texts.append("x" * 10_000))
thread.start()
thread.join()
ranges = re.findall("(?m)^([0-9a-f]+)-([0-9a-f]+) ---p", Path("/proc/self/maps").read_text())
print(sum(int(end, 16) - int(start, 16) > 32 << 20 for start, end in ranges))
"""


def page_faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", COUNT_FAULTS, how], capture_output=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's allocator is told anything")
def test_freed_memory_is_not_asked_for_again() -> None:
    assert page_faults("keep") < page_faults("as ever") / 2


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's allocator is told anything")
@pytest.mark.parametrize(("how", "has_heaps"), [("share", False), ("as ever", True)])
def test_threads_share_a_heap(how: str, has_heaps: bool) -> None:
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads of numpy may have heaps too
    done = subprocess.run(
        [sys.executable, "-c", COUNT_HEAPS, how], capture_output=True, check=True, env=alone
    )
    assert (int(done.stdout) > 0) == has_heaps
