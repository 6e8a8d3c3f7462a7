"""The values of fields that the rules for a site define: keywords, numbers and dates in a page."""

from __future__ import annotations

import math
import re
from typing import Literal

from crawlctl.pipeline.terminal.utc import utc_iso
from crawlctl.pipeline.text.details.metadata import cleaned
from crawlctl.pipeline.text.details.page_dates import parse_date

FieldKind = Literal["keyword", "number", "date"]

MAX_KEYWORD = 200  # the most characters of a keyword
_MAX_DIGITS = 18
# Digits with points, commas, apostrophes or blanks between them.
_NUMBER = re.compile(r"[-+\u2212]?\d(?:[\d.,'’\s]*\d)?", re.ASCII)
_BLANKS = re.compile(r"[\s'’]")


def field_value(written: str | int | float, kind: FieldKind) -> str | int | float | None:
    """Return the value of a field; None if the text in the page is not a value of this kind.

    A date is the text of a day or moment in UTC: as a number it could not be told from other numbers where it
    is shown.
    """
    if kind == "number":
        return number_of(written)
    text = cleaned(str(written), MAX_KEYWORD)
    if kind != "date":
        return text or None
    seconds = parse_date(text)
    return None if seconds is None else utc_iso(seconds)


def number_of(written: str | int | float) -> int | float | None:
    """Return the first number in a text, such as 1299 for `1,299 €`; None if there is none."""
    if not isinstance(written, str):
        return written if not isinstance(written, bool) and math.isfinite(written) else None
    match = _NUMBER.search(written.replace("\u00a0", " ").replace("\u202f", " ")[:MAX_KEYWORD])
    if match is None:
        return None
    sign = -1 if match[0][0] in "-\u2212" else 1
    whole, fraction = _parts(_BLANKS.sub("", match[0].lstrip("+-\u2212")))
    if len(whole) + len(fraction) > _MAX_DIGITS:
        return None
    return sign * (float(f"{whole}.{fraction}") if fraction else int(whole))


def _parts(digits: str) -> tuple[str, str]:
    """Return the digits before and after the decimal sign.

    Of `.` and `,` the last is the decimal sign, unless it occurs twice or is a comma before three digits.
    """
    place = max(digits.rfind("."), digits.rfind(","))
    if place < 0:
        return digits, ""
    mark, behind = digits[place], digits[place + 1 :]
    has_both = "." in digits and "," in digits
    groups = digits.count(mark) > 1 or (mark == "," and len(behind) == 3 and not has_both)
    before = digits if groups else digits[:place]
    return re.sub(r"\D", "", before), "" if groups else behind
