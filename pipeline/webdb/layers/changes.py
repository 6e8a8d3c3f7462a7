"""Changed: rows of a WebDB part that differ from the part before."""

from __future__ import annotations

from typing import NamedTuple


class Changed(NamedTuple):
    """Rows of the next part that differ from the old part, in key order, and other rows of the old part.

    `before` has the old packed entry of each changed row, None for a new URL. `kept` are packed entries that
    have not changed. The changed rows and kept entries of a whole pass make up the next part.
    """

    keys: list[bytes]
    values: list[bytes]
    before: list[bytes | None]
    kept: list[bytes]
