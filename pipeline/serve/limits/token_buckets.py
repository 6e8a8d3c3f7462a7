"""TokenBuckets: how many requests each client may make, counted by all worker processes together.

Each client has a bucket of tokens. A request takes one token, and tokens come back at a fixed rate up to a
limit. The buckets are in a file that all workers map into their memory, so a client has one bucket even if
its connections go to several workers. The file has a fixed number of places. If two clients share a place,
each gets a full bucket when it takes the place from the other, so no client is refused because of another
client. Two processes may change a place at the same moment; then one token too many or too few is counted,
which does no harm.
"""

from __future__ import annotations

import mmap
import os
import time
from hashlib import blake2b
from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PLACES = 16_384
BURST_SECONDS = 5.0  # a full bucket has as many tokens as come back in this time

_PLACE = Struct("<8sdd")  # the client's key, the time of its last request in seconds, the tokens left then
_FILE = "token-buckets"


class TokenBuckets:
    """The buckets of one server; in a folder that all its workers share, or in memory without one.

    `rate` is in tokens per second; 0 means that nobody is limited. All workers must use the same clock, such
    as the system clock.
    """

    def __init__(self, rate: float, folder: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._most = max(1.0, rate * BURST_SECONDS)
        self._secret = folder.encode() or os.urandom(16)  # the name of the folder is random
        self._clock = clock
        self._places = _mapped(folder) if rate else memoryview(b"")

    def wait_of(self, client: str) -> float:
        """Take a token of a client and return 0; if there is none, return the seconds until there is one."""
        if not self._rate:
            return 0.0
        key, now = self._key(client), self._clock()
        at = int.from_bytes(key, "little") % PLACES * _PLACE.size
        who, last, tokens = _PLACE.unpack_from(self._places, at)
        if who == key and last <= now:
            tokens = min(self._most, tokens + (now - last) * self._rate)
        else:
            tokens = self._most
        wait = 0.0 if tokens >= 1 else (1 - tokens) / self._rate
        _PLACE.pack_into(self._places, at, key, now, tokens if wait else tokens - 1)
        return wait

    def _key(self, client: str) -> bytes:
        """Return the secret key of a client, 8 bytes; so nobody can find out which clients share a place."""
        return blake2b(client.encode("utf-8", "replace"), digest_size=8, key=self._secret[-64:]).digest()


def _mapped(folder: str) -> memoryview:
    """Return the places; a new file is all zeros, and so is memory."""
    size = PLACES * _PLACE.size
    if not folder:
        return memoryview(bytearray(size))
    file = os.open(os.path.join(folder, _FILE), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)  # noqa: PTH118
    try:
        os.ftruncate(file, size)
        return memoryview(mmap.mmap(file, size))
    finally:
        os.close(file)
