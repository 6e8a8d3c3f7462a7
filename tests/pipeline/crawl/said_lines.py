"""A display that keeps the lines which the user would see."""

from __future__ import annotations

from crawlctl.pipeline.progress.display import Display


class SaidLines(Display):
    """Keeps each line that is said, in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)
