"""The bytes of a packed WebDB entry: reads and patches single fields without decoding the entry.

A value of the WebDB is a `WebEntry` as a msgpack array. Decoding an entry takes about a microsecond, and a
pass over a part meets millions of entries that it only has to copy or to skip. Only this module knows where a
field lies in the bytes. Nearly all entries are usual entries, which begin like this:

    byte  0        head of a msgpack array of 16 to 65,535 fields
    byte  1 to 2   number of fields: 25 today, fewer in older files
    byte  3        status
    byte  4        head of a 32-bit integer
    byte  5 to 8   time at which the URL is due, the most significant byte first
    byte  9        head of a float
    byte 10 to 17  score
    byte 18        depth, if it is less than 128

The status is always at byte 3. The score is elsewhere if the due time does not take 32 bits (a time before
18:12 on 1970-01-01, or after 2106), so the functions here look at the heads first and decode an entry that is
not usual.

The last fields are the page that a page names in its place (`named`), and when it was changed and published
by sitemaps and feeds (`lastmod`, `published`); these are 0 or take 32 bits. If you add a field behind them,
change `_is_nameless` too.
"""

from __future__ import annotations

from operator import itemgetter
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.text.likeness.fingerprint import SIGNATURE_BYTES
from crawlctl.pipeline.webdb.records import Status, WebEntry, decode_entry, encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

# The only position that other modules use: in a loop over all entries `value[STATUS]` takes half
# the time of a function call.
STATUS = 3
_FIELD_COUNT = 2  # the low byte of the number of fields: there are fewer than 256
_DUE_HEAD = 4
# An integer takes 9 bytes at most; what follows a shorter one does not disturb a comparison.
_DUE = slice(4, 13)
_SCORE_HEAD = 9
_SCORE = slice(9, 18)
_HEAD_OF_32_BITS, _HEAD_OF_FLOAT = 0xCE, 0xCB

_FIELDS_WITH_NAMED = WebEntry.__struct_fields__.index("named") + 1
_EMPTY_STRING = encode("")[-1]
_BYTES_OF_A_DATE = 5  # its head and 32 bits
_NAMELESS = encode("") + 2 * encode(0)  # how nearly all entries end: no named page, and no dates

# The signature is at the same bytes in nearly all live entries, because the numbers before it have the usual
# lengths: an entry with such numbers shows which bytes these are.
_TIME = 1 << 31
_SOME_SIGNATURE = b"\xff" * SIGNATURE_BYTES
_USUAL = encode(
    WebEntry(
        *(Status.FETCHED, _TIME, 0.5, 1, _TIME, _TIME, _TIME, _TIME, 1 << 17),
        code=200,
        signature=_SOME_SIGNATURE,
    )
)
_SIGNATURE_HEAD = encode(_SOME_SIGNATURE)[:-SIGNATURE_BYTES]
_HEAD_OF_SIGNATURE = slice(_USUAL.index(_SIGNATURE_HEAD + _SOME_SIGNATURE), _USUAL.index(_SOME_SIGNATURE))
_SIGNATURE = slice(_HEAD_OF_SIGNATURE.stop, _HEAD_OF_SIGNATURE.stop + SIGNATURE_BYTES)

# The bytes of a usual entry from the status to the depth, as numpy calls them.
_LEADING = slice(3, 19)
_LEADING_TYPES = [
    *(("status", "u1"), ("due head", "u1"), ("due", ">u4")),
    *(("score head", "u1"), ("score", ">f8"), ("depth", "u1")),
]
_LATEST = (1 << 63) - 1
_FIRST_LONG = 1 << 7  # numbers from here on take more than the one byte of a usual depth

_pack_float = Struct(">d").pack
_status = itemgetter(STATUS)
_leading_bytes = itemgetter(_LEADING)


class Leading(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The first fields of a WebEntry, which decide whether and when it is fetched."""

    status: Status
    next_due: int
    score: float
    depth: int


class VisitFields(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The fields of a WebEntry up to the code of the last answer: how its visits went."""

    status: Status
    next_due: int
    score: float
    depth: int
    first_seen: int
    last_tried: int = 0
    last_fetched: int = 0
    last_changed: int = 0
    interval: int = 0
    tries: int = 0
    code: int = 0


_decode_leading = msgspec.msgpack.Decoder(Leading).decode
_decode_visit_fields = msgspec.msgpack.Decoder(VisitFields).decode


def leading_fields(value: bytes, name: str = "webdb", offset: int = 0) -> Leading:
    """Return the first fields of a packed entry; errors say that it is in the block at `offset` of `name`."""
    # msgspec skips the other fields without making objects of them: a third of the time of a whole entry.
    try:
        return _decode_leading(value)
    except msgspec.MsgspecError as err:
        raise CorruptFile(name, offset, f"not a WebDB entry ({err})") from err


def visit_fields(value: bytes, name: str = "webdb", offset: int = 0) -> VisitFields:
    """Return how the visits of a packed entry went; texts, which take most of the time, are not decoded."""
    try:
        return _decode_visit_fields(value)
    except msgspec.MsgspecError as err:
        raise CorruptFile(name, offset, f"not a WebDB entry ({err})") from err


def statuses(values: Iterable[bytes], name: str = "webdb", offset: int = 0) -> bytes:
    """Return the number of the status of each packed entry, one byte per entry."""
    # No Python code runs per entry.
    try:
        return bytes(map(_status, values))
    except IndexError as err:
        raise CorruptFile(name, offset, "a value too short for a WebDB entry") from err


class LeadingColumns(NamedTuple):
    """The first fields of many entries."""

    statuses: NDArray[np.uint8]
    due: NDArray[np.int64]
    scores: NDArray[np.float64]
    depths: NDArray[np.int64]

    @property
    def seeds(self) -> NDArray[np.intp]:
        """The row numbers of the seeds."""
        found: NDArray[np.intp] = (self.depths == 0).nonzero()[0]
        return found


def leading_columns(values: Sequence[bytes], name: str = "webdb", offset: int = 0) -> LeadingColumns:
    """Return the first fields of packed entries as columns; no Python code runs per usual entry."""
    # importing it takes a tenth of a second, and most callers of this module do not need it
    import numpy as np

    leading = b"".join(map(_leading_bytes, values))
    if len(leading) != len(values) * (_LEADING.stop - _LEADING.start):
        raise CorruptFile(name, offset, "a value too short for a WebDB entry")
    columns = np.frombuffer(leading, _LEADING_TYPES)
    due, depths = columns["due"].astype(np.int64), columns["depth"].astype(np.int64)
    scores = columns["score"].astype(np.float64)
    is_usual = (columns["due head"] == _HEAD_OF_32_BITS) & (columns["score head"] == _HEAD_OF_FLOAT)
    for row in np.flatnonzero(~is_usual | (depths >= _FIRST_LONG)).tolist():
        fields = leading_fields(values[row], name, offset)
        due[row], scores[row] = min(fields.next_due, _LATEST), fields.score
        depths[row] = min(fields.depth, _LATEST)
    return LeadingColumns(columns["status"], due, scores, depths)


def due_mark(now: int) -> bytes:
    """Return the bytes that `due_rows` and `count_due` compare with: entries below them are due at `now`.

    msgpack writes longer integers with a greater head byte, and the digits from the most significant on. So
    packed times sort like the times. The mark is the next second, because the bytes behind a due time must
    not make an entry that is due at `now` greater than the mark.
    """
    return encode(now + 1)


def count_due(values: Iterable[bytes], mark: bytes) -> int:
    """Return how many packed entries are due."""
    return sum(value[_DUE] < mark for value in values)


def score_mark(score: float) -> bytes:
    """Return the bytes that `due_rows` compares scores with."""
    # Scores are never negative, so their packed bytes sort like the scores.
    return encode(score)


def due_rows(
    keys: Sequence[bytes], values: Sequence[bytes], mark: bytes, lowest_score: bytes = b""
) -> list[tuple[bytes, bytes]]:
    """Return the keys and packed entries that are due and have at least the score of a `score_mark`.

    A few entries with a lower score may be among them: entries whose score is not at the usual bytes.
    """
    return [
        (key, value)
        for key, value in zip(keys, values, strict=True)
        if value[_DUE] < mark and (value[_SCORE] >= lowest_score or value[_DUE_HEAD] != _HEAD_OF_32_BITS)
    ]


def with_score(value: bytes, score: float) -> bytes:
    """Return a packed entry with another score."""
    # Patching 8 bytes is several times faster than decoding and encoding the entry.
    if value[_DUE_HEAD] == _HEAD_OF_32_BITS and value[_SCORE_HEAD] == _HEAD_OF_FLOAT:
        return value[: _SCORE_HEAD + 1] + _pack_float(score) + value[_SCORE.stop :]
    return encode(replace(decode_entry(value), score=score))


def signature_of(value: bytes) -> bytes | None:
    """Return the signature of a packed live entry, None if the entry has to be decoded to find it."""
    return value[_SIGNATURE] if value[_HEAD_OF_SIGNATURE] == _SIGNATURE_HEAD else None


def plain_signature(value: bytes) -> bytes | None:
    """Return the signature of a packed live entry that names no other page (`named`).

    None means that the entry has to be decoded: it names another page, or its signature is at other bytes.
    """
    # It answers both questions, because a merge calls it once per live entry.
    if value[_HEAD_OF_SIGNATURE] == _SIGNATURE_HEAD and _is_nameless(value):
        return value[_SIGNATURE]
    return None


def _is_nameless(value: bytes) -> bool:
    """Return whether an entry names no other page; False may also mean that it has to be decoded."""
    # Older entries lack dates, still older ones `named` too. No URL has the byte of an empty string or of the
    # head of an integer.
    dates, end = value[_FIELD_COUNT] - _FIELDS_WITH_NAMED, len(value)
    if dates == 2 and value.endswith(_NAMELESS) and value[-5] != _HEAD_OF_32_BITS != value[-6]:
        return True  # these bytes are not within a date
    while dates > 0:
        if value[end - _BYTES_OF_A_DATE] == _HEAD_OF_32_BITS:
            end -= _BYTES_OF_A_DATE
        elif value[end - 1] == 0:
            end -= 1
        else:
            return False
        dates -= 1
    return dates < 0 or value[end - 1] == _EMPTY_STRING
