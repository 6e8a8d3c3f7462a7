from __future__ import annotations

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


def page_faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", COUNT_FAULTS, how], capture_output=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's allocator is told anything")
def test_freed_memory_is_not_asked_for_again() -> None:
    assert page_faults("keep") < page_faults("as ever") / 2
