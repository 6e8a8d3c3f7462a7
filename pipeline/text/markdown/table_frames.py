"""Tables: tables of data are written as tables; of tables used for layout only the content is written.

The tables of GitHub Flavored Markdown have cells of one line, and one header row. So a table is taken for
layout if a cell holds a heading, a list, code, a quote or another table, if it has one column and no header,
or if its cells are too long or too many.

https://github.github.com/gfm/#tables-extension-
"""

from __future__ import annotations

from dataclasses import dataclass, field

from crawlctl.pipeline.text.markdown.block_frames import BlockKind, Frame, MarkdownBlock

_MAX_COLUMNS = 64
_MAX_PARAGRAPHS = 4  # the most paragraphs per cell in a table of data
_MAX_CELL = 1000  # the most characters per cell in a table of data
_PADDING = 1000  # a table may be filled up to four times its number of cells, plus this number


@dataclass
class CellFrame(Frame):
    """A cell, with the number of columns and rows that it covers."""

    columns: int = 1
    rows: int = 1
    is_header: bool = False

    @property
    def line(self) -> str:
        """The cell as one line."""
        text = "<br>".join(block.text for block in self.blocks)
        return text.replace("\\\n", "<br>").replace("|", "\\|")

    @property
    def is_data(self) -> bool:
        """Whether the cell may be a cell of data: some short paragraphs."""
        are_paragraphs = all(block.kind is BlockKind.PARAGRAPH for block in self.blocks)
        length = sum(len(block.text) for block in self.blocks)
        return are_paragraphs and len(self.blocks) <= _MAX_PARAGRAPHS and length <= _MAX_CELL


@dataclass
class TableFrame(Frame):
    """An open table; `blocks` holds its caption and all content outside of its cells."""

    is_layout: bool = False  # the page says so: role=presentation
    rows: list[list[CellFrame]] = field(default_factory=list)

    def begin_row(self) -> None:
        """Take the cells that follow into a new row."""
        self.rows.append([])

    def take(self, child: Frame) -> None:
        """Take a cell, or a frame that stands outside of the cells."""
        if isinstance(child, CellFrame):
            if not self.rows:
                self.rows.append([])
            self.rows[-1].append(child)
        else:
            super().take(child)

    def finished(self, _before: MarkdownBlock | None) -> list[MarkdownBlock]:
        """Return the table as one block, or the blocks of its cells."""
        rows = [row for row in self.rows if any(cell.blocks for cell in row)]
        columns = max((sum(cell.columns for cell in row) for row in rows), default=0)
        if rows and self._is_data(rows, columns):
            return [*self.blocks, MarkdownBlock(BlockKind.OTHER, _written(rows))]
        return [*self.blocks, *(block for row in rows for cell in row for block in cell.blocks)]

    def _is_data(self, rows: list[list[CellFrame]], columns: int) -> bool:
        cells = [cell for row in rows for cell in row]
        if self.is_layout or columns > _MAX_COLUMNS or len(rows) * columns > 4 * len(cells) + _PADDING:
            return False
        is_grid = columns > 1 and len(rows) > 1
        return (is_grid or any(cell.is_header for cell in cells)) and all(cell.is_data for cell in cells)


def _written(rows: list[list[CellFrame]]) -> str:
    grid = _grid(rows)
    columns = max(map(len, grid))
    if not all(cell.is_header for cell in rows[0]):
        grid.insert(0, [])  # Markdown knows no table without a header row
    lines = [f"| {' | '.join(row + [''] * (columns - len(row)))} |" for row in grid]
    return "\n".join([lines[0], f"|{' --- |' * columns}", *lines[1:]])


def _grid(rows: list[list[CellFrame]]) -> list[list[str]]:
    """Return the lines of the cells by row and column; a covered place is an empty cell."""
    grid: list[list[str]] = []
    covered: dict[int, int] = {}  # column → rows in which a cell from above covers it
    for row in rows:
        cells: list[str] = []
        _skip_covered(cells, covered)
        for cell in row:
            for number in range(cell.columns):
                covered[len(cells)] = cell.rows - 1
                cells.append("" if number else cell.line)
            _skip_covered(cells, covered)
        grid.append(cells[:_MAX_COLUMNS])
    return grid


def _skip_covered(cells: list[str], covered: dict[int, int]) -> None:
    while covered.get(len(cells), 0) > 0 and len(cells) < _MAX_COLUMNS:
        covered[len(cells)] -= 1
        cells.append("")
