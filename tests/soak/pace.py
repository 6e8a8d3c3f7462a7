"""Measures what slow hosts cost a good one: `python -m crawlctl.tests.soak.pace [KIND …] [--seconds 70]`.

Each kind of slow_hosts.py is crawled with `crawlctl run` beside the good host for so many seconds, with the
politeness of the defaults and more rounds than there is time for. A line tells the longest time in which the
good host was not asked though a page of it was known and not fetched, and how long each whole round took.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from crawlctl.tests.soak.slow_hosts import KINDS, GoodHost, start_slow

ENDING = 30  # seconds for a run to save what it has after SIGTERM


class Pace(NamedTuple):
    """What a crawl came to: seconds of the longest wait of the good host and of each round, and its pages."""

    wait: float
    rounds: list[float]
    pages: int
    said: str


def settings(scratch: Path) -> dict[str, object]:
    """Return the settings: the defaults, as far as they can crawl loopback."""
    return {
        "fetch": {"contact": "test@example.org", "allowed_networks": ["127.0.0.0/8"]},
        "runner": {"tmp_dir": str(scratch)},
    }


def measure(kind: str, folder: Path, seconds: float) -> Pace:
    """Crawl the good host beside slow ones for so many seconds."""
    (folder / "scratch").mkdir()
    good = GoodHost()
    (folder / "crawl.yaml").write_text(json.dumps(settings(folder / "scratch")))
    (folder / "seeds.txt").write_text("".join(f"{url}\n" for url in [good.url, *start_slow(kind)]))
    command = [sys.executable, "-m", "crawlctl.cli", "run", "--iterations", "1000", "--seed", "seeds.txt"]
    with (
        (folder / "said").open("w") as said,
        subprocess.Popen(command, cwd=folder, stdout=said, stderr=said) as run,
    ):
        try:
            run.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            until = time.monotonic()
            end(run)
    return Pace(
        good.longest_wait(until),
        round_seconds(folder / "crawl"),
        len(good.asked),
        (folder / "said").read_text(),
    )


def end(run: subprocess.Popen[bytes]) -> None:
    """End a run, the hard way if it takes too long."""
    run.terminate()
    try:
        run.wait(ENDING)
    except subprocess.TimeoutExpired:
        run.kill()


def round_seconds(store: Path) -> list[float]:
    """Return how long each committed round took, merges included; the first two snapshots are none."""
    moments = sorted(path.stat().st_mtime for path in store.glob("snapshots/*.json"))[1:]
    return [after - before for before, after in pairwise(moments)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; all if left out")
    parser.add_argument("--seconds", type=float, default=70, help="for each kind")
    chosen = parser.parse_args()
    for kind in chosen.kinds or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            pace = measure(kind, Path(folder), chosen.seconds)
        rounds = " ".join(f"{seconds:.0f}" for seconds in pace.rounds)
        print(
            f"{kind}: waited {pace.wait:.1f} s at most; {pace.pages} pages; rounds of {rounds} s", flush=True
        )


if __name__ == "__main__":
    main()
