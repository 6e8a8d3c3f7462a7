"""The header of a record in an ARC file, the format before WARC: one line, in version 1 or 2 of ARC.

    http://a.org/ 192.0.2.7 20040518093000 text/html 4711
    http://a.org/ 192.0.2.7 20040518093000 text/html 200 3f2a - 1202 a.arc.gz 4711

http://archive.org/web/researcher/ArcFileFormat.php
"""

from __future__ import annotations

import re

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)
_MOMENT = re.compile(r"\d{12}(?:\d\d)?")
_ABOUT_THE_FILE = "filedesc:"
# How many words there can be from the time to the end of the line: in version 2, and in version 1 with a
# content type of one to four words.
_FROM_TIME = (8, 3, 4, 5, 6)


def fields_of_arc(line: str) -> tuple[tuple[str, str], ...] | None:
    """Return the fields that the header of a WARC record would have, None if the line is no ARC header.

    URLs and content types with blanks in them occur, so the line is cut at the time.
    """
    words = line.split(" ")
    if not _SCHEME.match(line):
        return None
    candidates = (len(words) - count for count in _FROM_TIME)
    at = next((index for index in candidates if index > 1 and _MOMENT.fullmatch(words[index])), None)
    if at is None:
        return None
    url = " ".join(words[: at - 1])
    kind = words[at + 1] if len(words) - at == _FROM_TIME[0] else " ".join(words[at + 1 : -1])
    return (
        ("WARC-Type", "warcinfo" if url.startswith(_ABOUT_THE_FILE) else "response"),
        ("WARC-Target-URI", url),
        ("WARC-IP-Address", words[at - 1]),
        ("WARC-Date", _date(words[at])),
        ("Content-Type", kind),
        ("Content-Length", words[-1]),
    )


def _date(moment: str) -> str:
    """Return a time in the form of WARC; the oldest files leave out the seconds."""
    year, month, day, hour, minute = moment[:4], *(moment[at : at + 2] for at in range(4, 12, 2))
    return f"{year}-{month}-{day}T{hour}:{minute}:{moment[12:] or '00'}Z"
