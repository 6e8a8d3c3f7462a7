"""Tables of text that fit the columns of a terminal.

If a table is too wide, columns with a rank above 0 are left out, the highest rank first. Then the first of
these forms that fits is used:

    1. a line per row; columns that allow it are narrower than their text, which is cut or wrapped
    2. the last columns on lines of their own below each row: from the first that can be cut or wrapped on, or
       else the last one, which has the URLs and reasons
    3. a line per cell, with the heading before it

All other text is never cut, so that a URL can be copied: a single word that is longer than a line sticks out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from crawlctl.pipeline.terminal.printable import blanked
from crawlctl.pipeline.terminal.width import DEFAULT_COLUMNS, columns
from crawlctl.pipeline.terminal.wrapping import cut, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_GAP = "  "
_INDENT = "  "
_NUMBER = re.compile(r"[\d.,%]*")
_NARROWEST = 10  # the fewest columns of the terminal for a remark beside other columns


@dataclass(frozen=True)
class Column:
    """A column of a table, and how it is shortened if the table is too wide."""

    heading: str  # empty in all columns of a table without headings
    cells: Sequence[str]
    is_text: bool = False  # text is aligned left, numbers right
    rank: int = 0  # columns are left out, the highest rank first; rank 0 always stays
    narrowest: int = 0  # the fewest columns of the terminal for it; 0: as many as the widest cell takes
    # if the column is narrow: True wraps sentences, False leaves out the middle of the text
    wraps: bool = False

    @property
    def width(self) -> int:
        """The columns of the terminal that the widest cell takes."""
        return max(map(columns, (self.heading, *self.cells)))

    @property
    def least(self) -> int:
        """The columns of the terminal that are enough."""
        return min(self.width, self.narrowest or self.width)


def table(parts: Sequence[Column], room: int | None) -> Iterator[str]:
    """Yield the lines of a table in `room` columns; without them, a line per row, with all of its text.

    Control characters become blanks.
    """
    shown = _most_important([replace(part, cells=[*map(blanked, part.cells)]) for part in parts], room)
    above, below = _halves(shown)
    if room is None or _fits(shown, room):
        for lines in _rows(shown, room):
            yield from lines
    elif above and _fits(above, room) and (len(below) == 1 or _fits(below, room - len(_INDENT))):
        lower = _rows(below, room - len(_INDENT), is_ruled=False)
        for lines, more in zip(_rows(above, room), lower, strict=True):
            yield from (*lines, *(_INDENT + line for line in more if line))
    else:
        yield from _by_cell(shown, room)


def listing(headings: Sequence[str], rows: Sequence[Sequence[str]], room: int | None) -> Iterator[str]:
    """Yield the lines of a table of which nothing is cut off; columns of numbers are set to the right."""
    parts = [
        Column(heading, cells, is_text=not all(map(_NUMBER.fullmatch, cells)))
        for heading, cells in zip(headings, zip(*rows, strict=True), strict=True)
    ]
    return table(parts, room)


def fields(rows: Sequence[tuple[str, str]], room: int) -> Iterator[str]:
    """Yield names and values in two columns; a long value goes on in its column, one long word is cut."""
    names, values = zip(*rows, strict=True)
    return table((Column("", names, is_text=True), _remarks(values)), room)


def described(rows: Sequence[tuple[str, str]], room: int | None) -> Iterator[str]:
    """Yield names and values in two columns; a value may have several lines, and no word of it is cut.

    A value with a word that is too long for its column, such as a URL, stands below its name.
    """
    start = max(columns(name) for name, _ in rows) + len(_GAP)
    for name, value in rows:
        lines = [blanked(line) for line in value.split("\n")]
        if room is not None and _longest_word(lines) > room - start:
            yield name
            yield from (_INDENT + line for line in _wrapped_lines(lines, room - len(_INDENT)))
            continue
        beside = _wrapped_lines(lines, None if room is None else room - start)
        for label, line in zip_longest([name], beside, fillvalue=""):
            yield f"{label}{' ' * (start - columns(label))}{line}".rstrip()


def _longest_word(lines: Iterable[str]) -> int:
    return max((columns(word) for line in lines for word in line.split()), default=0)


def _wrapped_lines(lines: Iterable[str], room: int | None) -> Iterator[str]:
    for line in lines:
        yield from (line,) if room is None else wrapped(line, room, breaks_words=False)


def figures(rows: Sequence[tuple[str, int, str]], room: int) -> Iterator[str]:
    """Yield names, numbers and remarks in three columns; a long remark is wrapped inside its column."""
    names, numbers, remarks = zip(*rows, strict=True)
    counts = Column("", [f"{number:,}" for number in numbers])
    return table((Column("", names, is_text=True), counts, _remarks(remarks)), room)


def _remarks(cells: Sequence[str]) -> Column:
    return Column("", cells, is_text=True, narrowest=_NARROWEST, wraps=True)


def _most_important(parts: list[Column], room: int | None) -> list[Column]:
    """Return the columns that remain after leaving out columns for which there is no room."""
    while room is not None and _total(part.width for part in parts) > room:
        least = max(parts, key=lambda part: part.rank)
        if not least.rank:
            break
        parts.remove(least)
    return parts


def _halves(parts: Sequence[Column]) -> tuple[Sequence[Column], Sequence[Column]]:
    """Return the columns that stay in the line of their row, and those that can move below."""
    last = len(parts) - 1
    split = next((number for number, part in enumerate(parts) if part.narrowest), last)
    return parts[:split], parts[split:]


def _fits(parts: Sequence[Column], room: int) -> bool:
    return _total(part.least for part in parts) <= room


def _total(widths: Iterable[int]) -> int:
    return sum(width + len(_GAP) for width in widths) - len(_GAP)


def _rows(parts: Sequence[Column], room: int | None, *, is_ruled: bool = True) -> Iterator[Sequence[str]]:
    """Yield the lines of each row; the first rows are the headings and, if `is_ruled`, hyphens below them."""
    widths = _widths(parts, room or DEFAULT_COLUMNS)
    if any(part.heading for part in parts):
        yield [_line([part.heading for part in parts], parts, widths)]
        yield [_line(["-" * width for width in widths], parts, widths)] if is_ruled else []
    for row in zip(*(part.cells for part in parts), strict=True):
        whole = [[cell] for cell in row]
        cells = whole if room is None else list(map(_fitted, row, parts, widths))
        yield [_line(line, parts, widths) for line in zip_longest(*cells, fillvalue="")]


def _widths(parts: Sequence[Column], room: int) -> list[int]:
    """Return the width of each column; the first column that can be narrower is shortened first."""
    excess = _total(part.width for part in parts) - room
    widths = []
    for part in parts:
        spared = max(0, min(excess, part.width - part.least))
        widths.append(part.width - spared)
        excess -= spared
    return widths if len(parts) > 1 else [min(room, *widths)]


def _fitted(cell: str, part: Column, width: int) -> list[str]:
    """Return the lines of a cell of a column with this width."""
    if columns(cell) <= width:
        return [cell]
    if part.narrowest and not (part.wraps and " " in cell):
        return [cut(cell, width)]
    return list(wrapped(cell, width, breaks_words=part.wraps))


def _line(cells: Sequence[str], parts: Sequence[Column], widths: Sequence[int]) -> str:
    padded = []
    for cell, part, width in zip(cells, parts, widths, strict=True):
        padding = " " * (width - columns(cell))
        padded.append(cell + padding if part.is_text else padding + cell)
    return _GAP.join(padded).rstrip()


def _by_cell(parts: Sequence[Column], room: int) -> Iterator[str]:
    for number, row in enumerate(zip(*(part.cells for part in parts), strict=True)):
        if number:
            yield ""
        for cell, part in zip(row, parts, strict=True):
            start = f"{part.heading}: " if part.heading else ""
            if columns(start + cell) <= room:
                yield from [start + cell] if cell else []
            else:
                yield from [start.rstrip()] if start else []
                yield from (_INDENT + line for line in _fitted(cell, part, room - len(_INDENT)))
