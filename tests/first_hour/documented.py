"""Reads the commands that a page of the manual shows, in the order in which a reader types them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_INDENTED = re.compile(r"^    (?=\S)", re.M)
_HEREDOC = re.compile(r"<<'(\w+)'")


@dataclass(frozen=True)
class Command:
    """A command as it is printed, with all lines of its here-document, and the heading above it."""

    text: str
    heading: str


def commands_of(page: Path) -> list[Command]:
    """Return the commands of all `sh` and `console` blocks of a page, and of its indented blocks."""
    text = page.read_text(encoding="utf-8")
    return [
        Command(command, heading)
        for heading, section in _sections(text)
        for kind, block in _blocks(section)
        for command in (_after_prompts(block) if kind == "console" else _statements(block))
    ]


def _sections(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^(?=#+ )", text, flags=re.M):
        heading, _, section = part.partition("\n")
        yield heading.lstrip("# "), section


def _blocks(section: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, content) of each block with commands."""
    rest = 0
    for fence in _FENCED.finditer(section):
        yield from _indented(section[rest : fence.start()])
        rest = fence.end()
        if fence[1] in ("sh", "console"):
            yield fence[1], fence[2]
    yield from _indented(section[rest:])


def _indented(text: str) -> Iterator[tuple[str, str]]:
    lines = [line[4:] for line in text.splitlines() if _INDENTED.match(line)]
    if lines:
        yield "sh", "\n".join(lines)


def _after_prompts(block: str) -> Iterator[str]:
    return (line[2:] for line in block.splitlines() if line.startswith("$ "))


def _statements(block: str) -> Iterator[str]:
    """Yield the commands of a script, each with its here-document."""
    lines = iter(block.splitlines())
    for line in lines:
        statement = [line]
        if end := _HEREDOC.search(line):
            for more in lines:
                statement.append(more)
                if more == end[1]:
                    break
        if line.strip():
            yield "\n".join(statement)
