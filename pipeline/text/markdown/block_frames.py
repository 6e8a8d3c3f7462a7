"""The open blocks of a page while it is written as Markdown: quotes, list items, lists.

A frame collects the finished blocks of an element. When the element ends, the frame becomes one block of the
frame around it: its lines get the indentation or the `>` of the element. So no code needs to know how deeply
an element is nested.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

_TICKS = re.compile(r"^\s*(`{3,})", re.M)
_BULLETS = "-*"
_MAX_NUMBER = 999_999_999  # CommonMark knows numbers of nine digits


class BlockKind(Enum):
    """The kinds of blocks that are told apart, because they change how the next block is written."""

    PARAGRAPH = "paragraph"
    LIST = "list"
    OTHER = "other"


class MarkdownBlock(NamedTuple):
    """A finished block: its lines, and for a list the sign of its items."""

    kind: BlockKind
    text: str
    sign: str = ""


def joined(blocks: list[MarkdownBlock]) -> str:
    """Return blocks with a blank line between each two."""
    return "\n\n".join(block.text for block in blocks)


def fenced(code: str, language: str) -> MarkdownBlock:
    """Return a code block; its fence is longer than any in the code."""
    lines = [line.rstrip() for line in code.expandtabs().splitlines()]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    code = "\n".join(lines)
    longest = max((len(ticks) for ticks in _TICKS.findall(code)), default=2)
    fence = "`" * (longest + 1)
    return MarkdownBlock(BlockKind.OTHER, f"{fence}{language}\n{code}\n{fence}")


def _indented(text: str, first: str, others: str) -> str:
    lines = text.split("\n")
    return "\n".join([first + lines[0], *(others + line if line else "" for line in lines[1:])])


@dataclass
class Frame:
    """An open element with blocks of its own; `owner` is the number of its node."""

    owner: int
    blocks: list[MarkdownBlock] = field(default_factory=list)

    def add(self, block: MarkdownBlock) -> None:
        """Take a finished block."""
        self.blocks.append(block)

    def take(self, child: Frame) -> None:
        """Take the blocks of a frame inside that has ended."""
        for block in child.finished(self.blocks[-1] if self.blocks else None):
            self.add(block)

    def finished(self, _before: MarkdownBlock | None) -> list[MarkdownBlock]:
        """Return the blocks of the element; `_before` is the finished block before the element."""
        return self.blocks


class QuoteFrame(Frame):
    """A blockquote."""

    def finished(self, _before: MarkdownBlock | None) -> list[MarkdownBlock]:
        """Return the quote as one block."""
        if not self.blocks:
            return []
        lines = joined(self.blocks).split("\n")
        return [MarkdownBlock(BlockKind.OTHER, "\n".join(f"> {line}" if line else ">" for line in lines))]


class ItemFrame(Frame):
    """An item of a list, a term or a definition."""


@dataclass
class ListFrame(Frame):
    """A list. A definition list is written as bullets: each item holds a term and its definitions.

    Content of the list outside of its items is added to the item before it.
    """

    start: int | None = None  # the number of the first item; None: bullets
    items: list[list[MarkdownBlock]] = field(default_factory=list)
    joins_item: bool = False  # the next item belongs to the one before: a definition

    def add(self, block: MarkdownBlock) -> None:
        """Take a block that stands between the items."""
        if not self.items:
            self.items.append([])
        self.items[-1].append(block)

    def take(self, child: Frame) -> None:
        """Take an item, or a frame that stands between the items."""
        if not isinstance(child, ItemFrame):
            before = self.items[-1][-1] if self.items and self.items[-1] else None
            for block in child.finished(before):
                self.add(block)
        elif self.joins_item and self.items:
            self.items[-1] += child.blocks
        else:
            self.items.append(child.blocks)

    def finished(self, before: MarkdownBlock | None) -> list[MarkdownBlock]:
        """Return the list as one block; its sign differs from that of a list directly before it."""
        items = [item for item in self.items if item]
        if not items:
            return []
        signs = _BULLETS if self.start is None else ".)"
        sign = signs[1] if before is not None and before.sign == signs[0] else signs[0]
        is_tight = all(_is_tight(item) for item in items)
        written = [self._item(item, number, sign) for number, item in enumerate(items)]
        return [MarkdownBlock(BlockKind.LIST, ("\n" if is_tight else "\n\n").join(written), sign)]

    def _item(self, item: list[MarkdownBlock], number: int, sign: str) -> str:
        lead = f"{sign} " if self.start is None else f"{min(self.start + number, _MAX_NUMBER)}{sign} "
        text = "\n".join(block.text for block in item) if _is_tight(item) else joined(item)
        return _indented(text, lead, " " * len(lead))


def _is_tight(item: list[MarkdownBlock]) -> bool:
    """Return whether an item needs no blank lines: a paragraph, and perhaps one list below it."""
    kinds = [block.kind for block in item]
    if kinds == [BlockKind.PARAGRAPH, BlockKind.LIST]:
        # Only bullets and lists that begin with 1 may follow a paragraph without a blank line.
        return item[1].sign in _BULLETS or item[1].text.startswith("1" + item[1].sign)
    return len(kinds) == 1 and kinds[0] is not BlockKind.OTHER
