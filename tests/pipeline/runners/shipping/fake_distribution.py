"""Distributions that are installed only for a test."""

from __future__ import annotations

from email.message import Message
from pathlib import Path


class Installed:
    """A distribution that requires others; its files are those of a folder."""

    def __init__(
        self, name: str, *requires: str, version: str = "1", python: str = "", folder: Path | None = None
    ) -> None:
        self.name, self.requires, self.version = name, requires, version
        self.folder = folder or Path()
        self.metadata = Message()
        self.metadata["Requires-Python"] = python

    @property
    def files(self) -> list[Path]:
        return sorted(path.relative_to(self.folder) for path in self.folder.rglob("*.*"))

    def locate_file(self, name: str) -> Path:
        return self.folder / name

    def read_text(self, name: str) -> str | None:
        return f"{name} of {self.name}"
