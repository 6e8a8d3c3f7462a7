"""Chooses how progress is shown: as a live bar on a terminal, as lines elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from crawlctl.pipeline.progress.display import LineDisplay

if TYPE_CHECKING:
    from crawlctl.pipeline.progress.display import Display


_CANNOT_MOVE = ("dumb", "unknown")  # values of TERM, as rich has them


def display_for(stream: TextIO) -> Display:
    """Return a live display if the stream is a terminal that can move its cursor, else one of lines."""
    if not can_move(stream):
        return LineDisplay(stream)
    from crawlctl.pipeline.progress.bar import LiveDisplay

    return LiveDisplay(stream)


def can_move(stream: TextIO) -> bool:
    """Return whether the stream is a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM", "").lower() not in _CANNOT_MOVE
