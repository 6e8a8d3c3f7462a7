"""Copies files from one store to another, each checked against its manifest.

Files are copied byte for byte, several at once.

The checksum of a file is compared before its last bytes are written to the other store. So a file that has
its whole length there is sound, and a copy that was killed continues with the missing files. On a disk a file
grows under its final name; a file that a kill cut short is shorter than it should be.
"""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.manifest import open_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

AT_ONCE = 8
CHUNK_BYTES = 8 << 20  # as large as a part of an upload to S3; each file being copied takes two or three


@dataclass(frozen=True)
class Transferred:
    """How many files and bytes were copied, and how many files the destination already had."""

    files: int
    bytes: int
    present: int


class Stopped(Exception):
    """Stops the other threads after one has failed or the user has pressed Ctrl-C."""


def transfer(
    source: Store,
    destination: Store,
    entries: Iterable[FileEntry],
    *,
    verify: bool = False,
    tell: Callable[[int, int], None] = lambda _files, _bytes: None,
) -> Transferred:
    """Copy all files that the destination lacks; `tell` is called with the numbers of files and bytes done.

    With `verify`, files that are there already are read again, and copied again if they are damaged.
    """
    # otherwise a large file at the end would delay the whole copy
    largest_first = sorted(entries, key=lambda entry: -entry.bytes)
    return _Transfer(source, destination, tell, verify=verify).run(largest_first)


class _Transfer:
    """One call of `transfer`: its stores, and the counts that its threads share."""

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
        """Copy the files with several threads."""
        sizes = _sizes(self._destination, {entry.kind for entry in entries})
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="copy") as pool:
            futures = [pool.submit(self._copy_if_needed, entry, sizes.get(entry.name)) for entry in entries]
            try:
                done, _ = wait(futures, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
            finally:  # after Ctrl-C too
                self._stopped.set()
                pool.shutdown(cancel_futures=True)
        return Transferred(self._files, self._bytes, self._present)

    def _copy_if_needed(self, entry: FileEntry, size: int | None) -> None:
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
                self._raise_if_stopped()
        except CorruptFile:
            return False
        return True

    def _copy(self, entry: FileEntry) -> None:
        with self._destination.write(entry.name) as sink:
            for chunk in checked_chunks(self._source, entry):
                self._raise_if_stopped()
                sink.write(chunk)
                with self._lock:
                    self._bytes += len(chunk)
                    self._tell(self._files + self._present, self._bytes)

    def _raise_if_stopped(self) -> None:
        if self._stopped.is_set():
            raise Stopped


def checked_chunks(store: Store, entry: FileEntry) -> Iterator[bytes]:
    """Yield the content of a file.

    Raise CorruptFile before its last chunk if its checksum is not the one in its manifest.
    """
    source = open_whole(store, entry)
    digest = sha256()
    for start in range(0, max(entry.bytes, 1), CHUNK_BYTES):
        length = min(CHUNK_BYTES, entry.bytes - start)
        chunk = source.read(start, length)
        if len(chunk) != length:
            raise CorruptFile(source.name, start, f"{length} bytes should be there and {len(chunk)} are")
        digest.update(chunk)
        if start + length == entry.bytes and digest.hexdigest() != entry.checksum:
            raise CorruptFile(source.name, 0, "its SHA-256 is not the one in its manifest")
        yield chunk


def check_file(store: Store, entry: FileEntry) -> None:
    """Read a file and raise CorruptFile unless its size and checksum are as in its manifest."""
    for _ in checked_chunks(store, entry):
        pass


def _sizes(store: Store, kinds: Iterable[str]) -> dict[str, int]:
    return {file.name: file.bytes for kind in sorted(kinds) for file in store.list(f"{kind}/")}
