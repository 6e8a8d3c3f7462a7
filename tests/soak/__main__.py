"""Runs the soak tests in full, with another seed each time: `python -m crawlctl.tests.soak --minutes 30`.

It stops at the first failure, after which the seed it has printed repeats that run.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from pathlib import Path


def run_once(seed: str, arguments: list[str]) -> int:
    """Run all soak tests in full with a seed, and return the exit code of pytest."""
    print(f"soak: seed {seed}; `make soak SEED={seed}` repeats this run", flush=True)
    command = [sys.executable, "-m", "pytest", "-m", "soak", str(Path(__file__).parent), *arguments]
    environment = {**os.environ, "SOAK_EFFORT": "full", "SOAK_SEED": seed}
    return subprocess.run(command, env=environment, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=30, help="begin another run until then")
    parser.add_argument("--seed", help="run once, with this seed")
    chosen, arguments = parser.parse_known_args()
    if chosen.seed:
        return run_once(chosen.seed, arguments)
    until = time.monotonic() + 60 * chosen.minutes
    while time.monotonic() < until:
        if code := run_once(str(random.SystemRandom().randrange(10**9)), arguments):
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
