"""Brings files from one store to another: byte for byte, several at once, each checked by its manifest.

A file is compared with its manifest before its last bytes go to the other store, so what has its whole length
there is sound: a copy that was killed goes on with what is missing. On a disk a file grows under its final
name, and one that a kill cut short is shorter than it should be.
"""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

AT_ONCE = 8
CHUNK_BYTES = 8 << 20  # as large as a part of an upload to S3; each file on its way holds two or three


@dataclass(frozen=True)
class Transferred:
    """What was brought, and how many files were there before."""

    files: int
    bytes: int
    present: int


class Stopped(Exception):
    """Another file has failed, or the user has had enough."""


def transfer(
    source: Store,
    destination: Store,
    entries: Iterable[FileEntry],
    *,
    verify: bool = False,
    tell: Callable[[int, int], None] = lambda _files, _bytes: None,
) -> Transferred:
    """Bring all files that the destination lacks; `tell` hears of files and bytes that are done.

    With `verify` those that are there already are read again, and brought anew where they are damaged.
    """
    wanted = sorted(entries, key=lambda entry: -entry.bytes)  # a large one at the end would keep all waiting
    return _Transfer(source, destination, tell, verify=verify).run(wanted)


class _Transfer:
    """A transfer at work."""

    def __init__(
        self, source: Store, destination: Store, tell: Callable[[int, int], None], *, verify: bool
    ) -> None:
        self._source = source
        self._destination = destination
        self._tell = tell
        self._verify = verify
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._files = self._bytes = self._present = 0

    def run(self, entries: Sequence[FileEntry]) -> Transferred:
        """Bring the files."""
        sizes = _sizes(self._destination, {entry.kind for entry in entries})
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="copy") as pool:
            futures = [pool.submit(self._bring, entry, sizes.get(entry.name)) for entry in entries]
            try:
                done, _ = wait(futures, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
            finally:  # after Ctrl-C too
                self._stopped.set()
                pool.shutdown(cancel_futures=True)
        return Transferred(self._files, self._bytes, self._present)

    def _bring(self, entry: FileEntry, size: int | None) -> None:
        if size == entry.bytes and (not self._verify or self._is_sound(entry)):
            with self._lock:
                self._present += 1
                self._tell(self._files + self._present, self._bytes)
            return
        if size is not None:
            self._destination.delete([entry.name])
        self._copy(entry)
        with self._lock:
            self._files += 1
            self._tell(self._files + self._present, self._bytes)

    def _is_sound(self, entry: FileEntry) -> bool:
        try:
            for _ in checked_chunks(self._destination, entry):
                self._go_on()
        except CorruptFile:
            return False
        return True

    def _copy(self, entry: FileEntry) -> None:
        with self._destination.write(entry.name) as sink:
            for chunk in checked_chunks(self._source, entry):
                self._go_on()
                sink.write(chunk)
                with self._lock:
                    self._bytes += len(chunk)
                    self._tell(self._files + self._present, self._bytes)

    def _go_on(self) -> None:
        if self._stopped.is_set():
            raise Stopped


def checked_chunks(store: Store, entry: FileEntry) -> Iterator[bytes]:
    """Yield the content of a file, the last of it only when all is known to be what its manifest says."""
    source = store.open(entry.name)
    if source.size != entry.bytes:
        raise CorruptFile(source.name, source.size, f"it has {source.size} bytes and had {entry.bytes}")
    digest = sha256()
    for start in range(0, max(entry.bytes, 1), CHUNK_BYTES):
        wanted = min(CHUNK_BYTES, entry.bytes - start)
        chunk = source.read(start, wanted)
        if len(chunk) != wanted:
            raise CorruptFile(source.name, start, f"{wanted} bytes should be there and {len(chunk)} are")
        digest.update(chunk)
        if start + wanted == entry.bytes and digest.hexdigest() != entry.checksum:
            raise CorruptFile(source.name, 0, "its SHA-256 is not the one that was written down with it")
        yield chunk


def check_file(store: Store, entry: FileEntry) -> None:
    """Read a file and raise CorruptFile unless it is what its manifest says."""
    for _ in checked_chunks(store, entry):
        pass


def _sizes(store: Store, kinds: Iterable[str]) -> dict[str, int]:
    return {file.name: file.bytes for kind in sorted(kinds) for file in store.list(f"{kind}/")}
