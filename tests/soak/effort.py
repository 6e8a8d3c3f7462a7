"""How much a soak test does: a short form for every change, a full one for `make soak`."""

from __future__ import annotations

import os
import random

FULL = os.environ.get("SOAK_EFFORT") == "full"
# The short form tries the same each time, so that a red run tells of the change at hand.
SEED = os.environ.get("SOAK_SEED", "7")


def by_effort(short: int, full: int) -> int:
    """Return how much to do in this run."""
    return full if FULL else short


def chance(test: str) -> random.Random:
    """Return the source of a test's random choices, which the seed alone decides."""
    return random.Random(f"{SEED} {test}")
