"""Durations and sizes, as people write them in settings: 30s, 5min, 12h, 64KiB, 8MiB.

The letter `m` alone means minutes in a duration and MiB in a size. It stays allowed, because older settings
files use it. conf/crawl.yaml, docs/settings.md and the table of `crawlctl config` write `min` and `MiB`.
"""

from __future__ import annotations

import math
import re
from typing import Any, ClassVar, TypeVar

Unit = TypeVar("Unit", bound="UnitInt")

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30

NUMBER_AND_UNIT = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


class UnitInt(int):
    """A whole number that people write with a unit; without a unit it counts seconds or bytes."""

    what: ClassVar[str]
    short: ClassVar[dict[str, int]]  # the units of str(), in lower case
    clear: ClassVar[dict[str, int]]  # the units of spelled(): no unit of durations is one of sizes too
    aliases: ClassVar[dict[str, int]] = {}  # further units that are understood, in lower case

    @classmethod
    def parse(cls: type[Unit], value: object) -> Unit:
        """Return the number that `value` (an int, or text such as "12h") stands for."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return cls(value)
        match = NUMBER_AND_UNIT.fullmatch(value.strip()) if isinstance(value, str) else None
        factor = cls._factor(match[2].lower()) if match else None
        if match is None or factor is None:
            units = ", ".join(cls.clear)
            raise ValueError(f"{value!r} is not {cls.what}; write a number and a unit ({units})")
        # Round up: a delay of half a second must not become no delay.
        return cls(math.ceil(float(match[1]) * factor))

    @classmethod
    def _factor(cls, unit: str) -> int | None:
        """Return how many seconds or bytes a unit in lower case stands for, or None if it is unknown."""
        clear = {name.lower(): size for name, size in cls.clear.items()}
        return {"": 1, **cls.short, **clear, **cls.aliases}.get(unit)

    def __str__(self) -> str:
        return self._in(self.short)

    def spelled(self) -> str:
        """Return the number with a unit that shows whether it is a duration or a size."""
        return self._in(self.clear)

    def _in(self, units: dict[str, int]) -> str:
        size, unit = max((size, unit) for unit, size in units.items() if self % size == 0)
        return f"{self // size}{unit}" if self else "0"


class Duration(UnitInt):
    """A length of time in seconds."""

    what: ClassVar[str] = "a duration"
    short: ClassVar[dict[str, int]] = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY, "w": WEEK}
    clear: ClassVar[dict[str, int]] = {"s": 1, "min": MINUTE, "h": HOUR, "d": DAY}


class Size(UnitInt):
    """A number of bytes; all units are powers of two, `MB` too."""

    what: ClassVar[str] = "a size"
    short: ClassVar[dict[str, int]] = {"b": 1, "k": KIB, "m": MIB, "g": GIB}
    clear: ClassVar[dict[str, int]] = {"B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB}
    aliases: ClassVar[dict[str, int]] = {"kb": KIB, "mb": MIB, "gb": GIB}


class Characters(Size):
    """A number of characters. It takes the units of a size, because settings files may use them."""


def encode_unit(value: Any) -> str | int:
    """Return a duration or size with a unit that cannot be misread; a hook of `msgspec.to_builtins`."""
    if isinstance(value, Characters):
        return int(value)
    if isinstance(value, UnitInt):
        return value.spelled()
    raise TypeError(f"no setting may have the type {type(value).__name__}")


def decode_unit(kind: type, value: Any) -> Any:
    """Return `value` as a duration or size; the hook of `msgspec.convert` for types it does not know."""
    if issubclass(kind, UnitInt):
        return kind.parse(value)
    raise TypeError(f"no setting may have the type {kind.__name__}")
