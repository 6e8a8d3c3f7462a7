"""FirstItems: the first items of a long series in some order, without holding all items in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Item = TypeVar("Item")


class FirstItems(Generic[Item]):
    """Keeps the first `count` of the added items, sorted by `key`; `met` counts all added items."""

    def __init__(self, count: int, key: Callable[[Item], Any]) -> None:
        self._count = count
        self._key = key
        self._kept: list[Item] = []
        self.met = 0

    def add(self, item: Item) -> None:
        """Add an item; among items with equal keys the earlier ones are kept."""
        self.met += 1
        self._kept.append(item)
        if len(self._kept) >= 2 * self._count + 100:
            self._kept = self.items()

    def items(self) -> list[Item]:
        """Return the first items so far, in order."""
        return sorted(self._kept, key=self._key)[: self._count]
