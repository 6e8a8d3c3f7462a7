"""One object per process, such as a client with open connections."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Made = TypeVar("Made")


class PerProcess(Generic[Made]):
    """Makes an object on first use and keeps it until the process ends; a forked child makes its own.

    Two processes that share a connection read each other's answers. `make` must be picklable if the holder is
    to be pickled; the copy makes its own object too.
    """

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._made: Made | None = None
        self._lock = Lock()
        self._process = os.getpid()

    def __call__(self) -> Made:
        """Return the object of this process; threads that ask first at the same time get the same object."""
        if self._process != os.getpid():  # we were forked, perhaps while another thread held the lock
            self._made, self._lock, self._process = None, Lock(), os.getpid()
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    def __reduce__(self) -> tuple[type[PerProcess[Made]], tuple[Callable[[], Made]]]:
        return type(self), (self._make,)
