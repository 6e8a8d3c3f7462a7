"""Finding: one fault of a crawl, and the file that has to be made again."""

from __future__ import annotations

from typing import Literal

import msgspec

# damaged: the bytes are not those that were written, or the file is missing. wrong: it does not fit the other
# files of the snapshot. documents: live pages have no document, or documents no live page.
Fault = Literal["damaged", "wrong", "documents"]


class Finding(msgspec.Struct, frozen=True):
    """A file that is damaged, missing or wrong, and why."""

    file: str
    kind: str
    partition: int
    fault: Fault
    reason: str


def encode_finding(finding: Finding) -> bytes:
    """Return a finding as one line of JSON."""
    return msgspec.json.encode(finding)


def decode_finding(line: bytes) -> Finding:
    """Return the finding on a line."""
    return msgspec.json.decode(line, type=Finding)
