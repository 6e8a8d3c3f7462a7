"""Chooses how progress is shown: as a live bar on a terminal, as lines elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from crawlctl.pipeline.progress.display import LineDisplay

if TYPE_CHECKING:
    from crawlctl.pipeline.progress.display import Display


def display_for(stream: TextIO) -> Display:
    """Return a live display if the stream is a terminal, else a display of lines."""
    if not stream.isatty():
        return LineDisplay(stream)
    from crawlctl.pipeline.progress.bar import LiveDisplay

    return LiveDisplay(stream)
