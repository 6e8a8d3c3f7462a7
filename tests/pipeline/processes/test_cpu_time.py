from __future__ import annotations

import subprocess
import sys

from crawlctl.pipeline.processes.cpu_time import cpu_seconds

SPENT = 0.05  # CPU-seconds
SPEND = f"import time\nwhile time.process_time() < {SPENT}: pass"


def test_a_child_that_was_waited_for_counts() -> None:
    before = cpu_seconds()
    subprocess.run([sys.executable, "-S", "-c", SPEND], check=True)
    assert cpu_seconds() - before >= SPENT


def test_so_does_the_child_of_a_child() -> None:
    before = cpu_seconds()
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {SPEND!r}], check=True)"
    subprocess.run([sys.executable, "-S", "-c", nested], check=True)
    assert cpu_seconds() - before >= SPENT
