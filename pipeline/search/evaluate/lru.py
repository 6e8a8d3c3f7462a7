"""A cache with a limit in bytes that drops the least recently used values."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

_Key = TypeVar("_Key", bound="Hashable")
_Value = TypeVar("_Value")


class LruCache(Generic[_Key, _Value]):
    """Values by key, each with its size in bytes; several threads may use it."""

    def __init__(self, max_bytes: int) -> None:
        self.bytes = 0
        self._max_bytes = max_bytes
        self._held: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: _Key) -> _Value | None:
        """Return the value of a key, None if the cache does not hold it."""
        with self._lock:
            held = self._held.get(key)
            if held is None:
                return None
            self._held.move_to_end(key)
            return held[0]

    def put(self, key: _Key, value: _Value, size: int) -> None:
        """Hold a value of `size` bytes; a value larger than the whole cache is not held."""
        with self._lock:
            if (old := self._held.pop(key, None)) is not None:
                self.bytes -= old[1]
            if size > self._max_bytes:
                return
            self._held[key] = (value, size)
            self.bytes += size
            while self.bytes > self._max_bytes:
                self.bytes -= self._held.popitem(last=False)[1][1]
