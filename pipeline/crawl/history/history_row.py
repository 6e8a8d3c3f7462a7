"""HistoryRow: the costs and results of one commit; a line of JSON in a file of the history.

A row has figures only: no URL and no name of a host, so forgetting pages leaves nothing to remove here.
Fields may be added; a reader ignores fields that it does not know. The last field of a line is `crc`, the
CRC-32 of the line without that field: by it a repair recognises the sound rows of a damaged file. Rows of
older releases have no `crc`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from crawlctl.pipeline.crawl.reports.page_counts import PageCounts
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.manifest import Count, Moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class StepCost(msgspec.Struct, frozen=True):
    """The cost of a step: seconds on the clock, and CPU-seconds of all processes that worked for it."""

    seconds: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: StepCost) -> StepCost:
        return StepCost(self.seconds + other.seconds, self.cpu + other.cpu)

    def rounded(self) -> StepCost:
        """Return the cost in whole milliseconds."""
        return StepCost(round(self.seconds, 3), round(self.cpu, 3))


class _Commit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A commit and its cost."""

    snapshot: Count
    committed: Moment
    round: Count
    command: str = ""
    made_by: str = ""  # for people: the command, and the part of it that made the commit
    is_round: bool = False  # whether the commit ended a round: pages were fetched or imported
    runner: str = ""
    steps: dict[str, StepCost] = {}  # by name of the step; "other" is the rest of the command
    remark: str = ""  # why pages were ranked, or were not
    dollars: float | None = None  # estimated cost; only on EMR


class _Round(_Commit, frozen=True, kw_only=True, omit_defaults=True):
    """The results of the round, including pages that stopped runs had saved for it."""

    pages: PageCounts = PageCounts()
    failures: dict[str, int] = {}  # failed pages by cause
    requests: Count = 0  # all requests: for pages, robots.txt and sitemaps
    received: Count = 0  # bytes received from hosts
    left: Count = 0  # URLs that were due and not fetched
    latency: dict[int, int] = {}  # how many complete answers, by bucket of latency (fetch/save/latency.py)
    ended_by: tuple[str, ...] = ()  # the settings whose limit ended the round


class HistoryRow(_Round, frozen=True, kw_only=True, omit_defaults=True):
    """One commit: its cost, the results of the round if it ended one, and the size of the crawl after it.

    The table joins rows by these three classes: it adds results, and keeps the last sizes.
    """

    urls: Count = 0
    hosts: Count = 0
    failing_hosts: Count = 0  # hosts that failed at their last request
    documents: Count = 0  # documents that can be searched
    terms: Count = 0
    stored: dict[str, int] = {}  # bytes of all files of the snapshot, by kind
    index: dict[str, int] = {}  # bytes of the index, by component

    @property
    def cost(self) -> StepCost:
        """The cost of all steps."""
        return sum(self.steps.values(), StepCost())


# The names of the fields that say what a round did, and of those that say how large the crawl is afterwards.
RESULTS = _Round.__struct_fields__[len(_Commit.__struct_fields__) :]
SIZES = HistoryRow.__struct_fields__[len(_Round.__struct_fields__) :]

_CRC = b',"crc":"'
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(HistoryRow)


def encode_rows(rows: Iterable[HistoryRow]) -> bytes:
    """Return the content of a file of rows: a line per row."""
    return b"".join(_with_crc(_encoder.encode(row)) + b"\n" for row in rows)


def decode_rows(data: bytes, name: str) -> list[HistoryRow]:
    """Return the rows in a file; errors call it `name`."""
    rows, offset = [], 0
    for line in data.splitlines(keepends=True):
        try:
            rows.append(_decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as err:
            raise CorruptFile(name, offset, f"not a row of the history: {err}") from err
        offset += len(line)
    return rows


def sound_rows(data: bytes) -> Iterator[HistoryRow]:
    """Yield the rows of a damaged file whose checksum is right."""
    for line in data.splitlines():
        start, mark, _ = line.rpartition(_CRC)
        if mark and _with_crc(start + b"}") == line:
            with suppress(msgspec.DecodeError, UnicodeDecodeError):
                yield _decoder.decode(line)


def _with_crc(line: bytes) -> bytes:
    """Return a line of JSON, an object with fields, with its checksum as the last field."""
    return line[:-1] + _CRC + b'%08x"}' % crc32(line)
