"""Durations and sizes, as people write them in settings: 500ms, 30s, 5min, 12h, 64KiB, 8MiB.

The letter `m` alone means minutes in a duration and MiB in a size. It stays allowed, because older settings
files use it. conf/crawl.yaml, docs/settings.md and the table of `crawlctl config` write `min` and `MiB`.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any, ClassVar

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY
LONGEST = 1_000_000 * DAY  # the longest duration, in seconds: longer durations cannot be added to a time

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30

MILLISECONDS = 1000  # per second; no duration is more exact than a millisecond

NUMBER_AND_UNIT = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


class Unit:
    """The base class of durations and sizes: the units that people write, and the parser."""

    what: ClassVar[str]
    short: ClassVar[dict[str, int]]  # the units of str(), in lower case
    clear: ClassVar[dict[str, int]]  # the units of spelled(): no unit of durations is also a unit of sizes
    aliases: ClassVar[dict[str, int | Decimal]] = {}  # further units that are understood, in lower case

    @classmethod
    def _read(cls, value: object) -> Decimal:
        """Return the seconds or bytes that a text such as "12h" stands for, exactly as written."""
        match = NUMBER_AND_UNIT.fullmatch(value.strip()) if isinstance(value, str) else None
        factor = cls._factor(match[2].lower()) if match else None
        if match is None or factor is None:
            raise ValueError(f"{value!r} is not {cls.what}; write a number and a unit ({cls._units()})")
        return Decimal(match[1]) * factor

    @classmethod
    def _units(cls) -> str:
        return ", ".join(cls.clear)

    @classmethod
    def _factor(cls, unit: str) -> int | Decimal | None:
        """Return how many seconds or bytes a unit in lower case stands for, or None if it is unknown."""
        clear = {name.lower(): size for name, size in cls.clear.items()}
        return {"": 1, **cls.short, **clear, **cls.aliases}.get(unit)

    @staticmethod
    def _in(number: int, units: dict[str, int]) -> str:
        size, unit = max((size, unit) for unit, size in units.items() if number % size == 0)
        return f"{number // size}{unit}" if number else "0"


class Duration(Unit, float):
    """A length of time in seconds, exact to a millisecond."""

    what: ClassVar[str] = "a duration"
    short: ClassVar[dict[str, int]] = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY, "w": WEEK}
    clear: ClassVar[dict[str, int]] = {"s": 1, "min": MINUTE, "h": HOUR, "d": DAY}
    aliases: ClassVar[dict[str, int | Decimal]] = {"ms": Decimal(1) / MILLISECONDS}

    @classmethod
    def parse(cls, value: object) -> Duration:
        """Return the duration that `value` stands for: a number of seconds, or text such as "500ms"."""
        seconds = _written(value) if _is_number(value) else cls._read(value)
        if seconds > LONGEST:
            raise ValueError(f"{value!r} is not a duration that anyone waits for; write at most 1000000d")
        # Round up: a delay of half a millisecond must not become no delay.
        return cls(math.ceil(seconds * MILLISECONDS) / MILLISECONDS)

    @property
    def whole(self) -> int:
        """Whole seconds, rounded up, for what counts only these: the WebDB, cron, some options of libcurl."""
        return math.ceil(self)

    @property
    def milliseconds(self) -> int:
        """Milliseconds, for options of libcurl."""
        return round(self * MILLISECONDS)

    @classmethod
    def _units(cls) -> str:
        return ", ".join(("ms", *cls.clear))

    def __str__(self) -> str:
        return self._text(self.short)

    def spelled(self) -> str:
        """Return the duration with a unit that is not also a unit of sizes."""
        return self._text(self.clear)

    def _text(self, units: dict[str, int]) -> str:
        if self.is_integer():
            return self._in(int(self), units)
        if self < 1:
            return f"{self.milliseconds}ms"
        return f"{float(self):.3f}".rstrip("0") + "s"


def _is_number(value: object) -> bool:
    """Return whether a value is a finite number that is not negative."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf


def _written(number: Any) -> Decimal:
    """Return a number as it was written: 0.07, not 0.070000000000000007."""
    return Decimal(number) if isinstance(number, int) else Decimal(repr(float(number)))


class Size(Unit, int):
    """A number of bytes; all units are powers of two, `MB` too."""

    what: ClassVar[str] = "a size"
    short: ClassVar[dict[str, int]] = {"b": 1, "k": KIB, "m": MIB, "g": GIB}
    clear: ClassVar[dict[str, int]] = {"B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB}
    aliases: ClassVar[dict[str, int | Decimal]] = {"kb": KIB, "mb": MIB, "gb": GIB}

    @classmethod
    def parse(cls, value: object) -> Size:
        """Return the size that `value` stands for: a number of bytes, or text such as "8MiB"."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return cls(value)
        return cls(math.ceil(cls._read(value)))

    def __str__(self) -> str:
        return self._in(self, self.short)

    def spelled(self) -> str:
        """Return the size with a unit that is not also a unit of durations."""
        return self._in(self, self.clear)


class Characters(Size):
    """A number of characters. It takes the units of a size, because settings files may use them."""


def encode_unit(value: Any) -> str | int:
    """Return a duration or size with an unambiguous unit; a hook of `msgspec.to_builtins`."""
    if isinstance(value, Characters):
        return int(value)
    if isinstance(value, (Duration, Size)):
        return value.spelled()
    raise TypeError(f"no setting may have the type {type(value).__name__}")


def decode_unit(kind: type, value: Any) -> Any:
    """Return `value` as a duration or size; the hook of `msgspec.convert` for types it does not know."""
    if issubclass(kind, (Duration, Size)):
        return kind.parse(value)
    raise TypeError(f"no setting may have the type {kind.__name__}")
