"""Settings people write with units: durations such as 12h or 30d, sizes such as 512M."""

from __future__ import annotations

import math
import re
from typing import Any, ClassVar, TypeVar

Unit = TypeVar("Unit", bound="UnitInt")

HOUR = 3600
DAY = 24 * HOUR

NUMBER_AND_UNIT = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


class UnitInt(int):
    """A whole number written with a unit; the unit-less form counts in the smallest one."""

    units: ClassVar[dict[str, int]]
    what: ClassVar[str]

    @classmethod
    def parse(cls: type[Unit], value: object) -> Unit:
        """Return the number that `value` (an int, or text such as "12h") stands for."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return cls(value)
        match = NUMBER_AND_UNIT.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None or match[2].lower() not in cls.units:
            units = ", ".join(unit for unit in cls.units if unit)
            raise ValueError(f"{value!r} is not {cls.what}; write a number and a unit ({units})")
        # Upwards: half a second of delay is not none at all.
        return cls(math.ceil(float(match[1]) * cls.units[match[2].lower()]))

    def __str__(self) -> str:
        best = max((size, unit) for unit, size in self.units.items() if self % size == 0 and unit)
        return f"{self // best[0]}{best[1]}" if self else "0"


class Duration(UnitInt):
    """A span of time in seconds."""

    units: ClassVar[dict[str, int]] = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
    what: ClassVar[str] = "a duration"


class Size(UnitInt):
    """A number of bytes."""

    units: ClassVar[dict[str, int]] = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    what: ClassVar[str] = "a size"


def decode_unit(kind: type, value: Any) -> Any:
    """Decode the types msgspec does not know; the hook for `msgspec.convert`."""
    if issubclass(kind, UnitInt):
        return kind.parse(value)
    raise TypeError(f"no setting may have the type {kind.__name__}")
