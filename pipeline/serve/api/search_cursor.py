"""SearchCursor: where the next results of a search begin, and in which snapshot of the crawl.

The results of one snapshot never change, so a client that follows cursors sees each result once, even if the
crawl continues meanwhile. A cursor is the number of the snapshot, the beginning of its random name, and the
number of results already returned: `14-3f0a9c5d1b2e4f60-20`.
"""

from __future__ import annotations

import re
from http import HTTPStatus

import msgspec

from crawlctl.pipeline.serve.problem import Problem
from crawlctl.pipeline.serve.searching.search_request import MAX_RESULTS

_WRITER = 16  # how many characters of the random name of a snapshot stand in a cursor
_CURSOR = re.compile(rf"([1-9][0-9]{{0,17}})-([0-9a-f]{{{_WRITER}}})-([0-9]{{1,4}})", re.ASCII)


class SearchCursor(msgspec.Struct, frozen=True):
    """A place in the results of a snapshot."""

    snapshot: int
    writer: str  # the beginning of the random name of the snapshot
    offset: int

    def __str__(self) -> str:
        return f"{self.snapshot}-{self.writer[:_WRITER]}-{self.offset}"


def cursor_of(text: str) -> SearchCursor:
    """Return the cursor that a client has sent back."""
    found = _CURSOR.fullmatch(text)
    if found is None or int(found[3]) >= MAX_RESULTS:
        raise Problem(
            HTTPStatus.BAD_REQUEST,
            "cursor comes from no answer: take `next` of an answer as it is, or leave cursor out",
        )
    return SearchCursor(int(found[1]), found[2], int(found[3]))
