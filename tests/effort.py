"""How many examples property tests try."""

from __future__ import annotations

from hypothesis import settings

EVERYDAY = 40
THOROUGH = 100
EXPLORING = 1000


def examples(everyday: int) -> int:
    """Return the examples of a test that tries so many every day, which grow as those of others do."""
    return max(everyday * settings().max_examples // EVERYDAY, 1)
