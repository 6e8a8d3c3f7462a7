"""A store on HDFS, through WebHDFS: it needs no Java, no Hadoop on this machine and no native library."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import MissingFile
from crawlctl.pipeline.store.base import RemoteFile, Store, StoredFile, missing
from crawlctl.pipeline.store.file_names import check_name, is_name
from crawlctl.pipeline.store.hdfs.client import WebHdfs
from crawlctl.pipeline.store.hdfs.errors import HdfsProblem, explained
from crawlctl.pipeline.store.hdfs.namespace import (
    discard,
    is_temporary,
    publish,
    remove,
    remove_all,
    status_of,
    temporary_beside,
    walk,
)
from crawlctl.pipeline.store.hdfs.upload import HdfsWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from crawlctl.pipeline.store.hdfs.address import HdfsAddress
    from crawlctl.pipeline.store.hdfs.namespace import HdfsEntry

DELETE_BATCH = 1000  # names that are held in memory at a time


class HdfsStore(Store):
    """The files in a folder of HDFS, which the first write creates."""

    def __init__(self, address: HdfsAddress) -> None:
        super().__init__(address.uri)
        self.client = WebHdfs(address)
        self._root = address.path

    def path(self, name: str) -> str:
        """Return the path of a file in HDFS."""
        return f"{self._root}/{check_name(name)}"

    def explained(self, name: str = "") -> AbstractContextManager[None]:
        """Turn an HdfsProblem of the block into our error for a file, or for the store."""
        return explained(self.locate(name) if name else self.uri, self.client.user)

    def size(self, name: str) -> int:
        """Return the length of a file in bytes."""
        path = self.path(name)
        with self.explained(name):
            entry = status_of(self.client, path)
        if entry.is_folder:
            raise missing(self.locate(name))
        return entry.bytes

    def open(self, name: str) -> RemoteFile:
        """Look up a file once and return it for ranged reads."""
        return RemoteFile(self, name)

    def create(self, name: str, data: bytes) -> bool:
        """Write a small file as a whole unless the name is taken; return whether it holds this data now."""
        path = self.path(name)
        temporary = temporary_beside(path)
        with self.explained(name):
            try:
                self.client.exchange("PUT", "CREATE", temporary, data, overwrite="true")
                if publish(self.client, temporary, path, len(data)):
                    return True
            except BaseException:
                discard(self.client, temporary)
                raise
            discard(self.client, temporary)
        return self._holds(name, data)

    def sweep(self, folder: str, before: float, *, dry_run: bool = False) -> tuple[StoredFile, ...]:
        """Remove temporary files, and empty folders, that were last changed before `before`."""
        with self.explained(folder):
            found = list(walk(self.client, self.path(folder), lambda _: True))
            old = [entry for entry in found if entry.modified < before]
            temporaries = [entry for entry in old if not entry.is_folder and is_temporary(entry.path)]
            if not dry_run:
                folders = sorted((entry.path for entry in old if entry.is_folder), reverse=True)
                for path in [entry.path for entry in temporaries] + folders:
                    remove(self.client, path)
        return tuple(self._stored(entry) for entry in temporaries)

    def _holds(self, name: str, data: bytes) -> bool:
        try:
            return self._read(name, 0, None) == data
        except MissingFile:  # deleted since
            return False

    def _read(self, name: str, start: int, length: int | None) -> bytes:
        with self.explained(name):
            try:
                return self.client.read(self.path(name), start, length)
            except HdfsProblem as problem:
                if problem.is_past_the_end:
                    return b""
                raise

    def _sink(self, name: str) -> HdfsWriter:
        return HdfsWriter(name, self.locate(name), self.path(name), self.client)

    def _list(self, prefix: str) -> Iterator[StoredFile]:
        folder = f"{self._root}/{prefix}".rpartition("/")[0]
        with self.explained():
            found = walk(self.client, folder, lambda entry: self._name(f"{entry.path}/").startswith(prefix))
            files = [self._stored(entry) for entry in found if not entry.is_folder]
        return iter(sorted(file for file in files if file.name.startswith(prefix) and is_name(file.name)))

    def _stored(self, entry: HdfsEntry) -> StoredFile:
        return StoredFile(self._name(entry.path), entry.bytes, entry.modified)

    def _name(self, path: str) -> str:
        return path[len(self._root) + 1 :]

    def _delete(self, names: Iterable[str]) -> None:
        paths = map(self.path, names)
        with self.explained():
            while batch := list(islice(paths, DELETE_BATCH)):
                remove_all(self.client, batch, self._root)
