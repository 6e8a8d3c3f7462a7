"""How much a sketch holds; stored sketches depend on these numbers."""

from __future__ import annotations

KEYS = 8
PARITY_BITS = 2048
