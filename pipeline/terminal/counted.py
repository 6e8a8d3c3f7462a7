"""Numbers as people read them: with their noun in singular or plural, bytes with a unit."""

from __future__ import annotations

_UNITS = ("kB", "MB", "GB", "TB", "PB")
_STEP = 1000


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number and its noun: `1 page`, `1,200 pages`; `many` is the plural if it is not `one` + s.

    With a verb in both forms the whole phrase agrees: counted(n, "URL is", "URLs are").
    """
    return f"{number:,} {by_number(number, one, many or one + 's')}"


def by_number(number: int, one: str, many: str) -> str:
    """Return the form of a verb or pronoun that agrees with a number: `one` for 1, else `many`."""
    return one if number == 1 else many


def sized(octets: float) -> str:
    """Return a number of bytes with the unit that leaves at most three digits: `1 byte`, `12.3 MB`."""
    if octets < _STEP:
        return counted(int(octets), "byte")
    *units, largest = _UNITS
    for unit in units:
        octets /= _STEP
        if octets < _STEP - 0.05:  # 999.96 would be rounded to 1000.0
            return f"{octets:.1f} {unit}"
    return f"{octets / _STEP:,.1f} {largest}"
