"""Fuzzes all that strangers' bytes go through: `python -m crawlctl.tests.fuzz --inputs 1000000`.

Exits with 1 if an input raised or took too long; what to type to see it again stands beside it.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from crawlctl.tests.fuzz.corpora import corpora
from crawlctl.tests.fuzz.running import Tally, fuzz, inputs_of
from crawlctl.tests.fuzz.targets import TARGETS

_SHOWN = 5
_TOLD = 10.0  # seconds


def main() -> int:
    """Run the targets one after the other."""
    asked = _options()
    if asked.only is not None:
        return _again(asked.target[0], asked.seed, asked.only, asked.keep)
    numbers, failed = inputs_of(asked.inputs), 0
    for name in asked.target:
        tally = fuzz(name, range(numbers[name]), asked.seed, _Teller(name, numbers[name]))
        print(f"{name:9} {_figures(tally)}", flush=True)
        for finding in tally.findings[:_SHOWN]:
            print(f"  {finding}", flush=True)
        failed += len(tally.findings)
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m crawlctl.tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, help="of all targets together")
    parser.add_argument("--seed", type=int, default=1, help="another one is another series of inputs")
    parser.add_argument("--target", action="append", choices=list(TARGETS), help="may be repeated; else all")
    parser.add_argument("--only", type=int, help="the number of the one input to try, of one --target")
    parser.add_argument("--keep", type=Path, help="a file to write that input to")
    asked = parser.parse_args()
    if asked.only is not None and len(asked.target or ()) != 1:
        parser.error("--only needs one --target")
    asked.target = asked.target or list(TARGETS)
    return asked


def _again(target: str, seed: int, number: int, keep: Path | None) -> int:
    """Try one input without a net, so that its traceback is seen."""
    data = corpora()[target].mutator().make(number, seed)
    if keep is not None:
        keep.write_bytes(data)
    TARGETS[target](data)
    print(f"{target}: input {number} of seed {seed} gives no trouble")
    return 0


def _figures(tally: Tally) -> str:
    slowest = f"slowest {tally.slowest * 1000:.0f} ms"
    return f"{tally.inputs:8} inputs {tally.seconds:7.1f} s, {slowest:>16}, {len(tally.findings)} findings"


class _Teller:
    """Tells now and then how far a target is."""

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._next = time.monotonic() + _TOLD

    def __call__(self, tally: Tally) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _TOLD
            print(f"{self._name:9} {tally.inputs} of {self._most}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
