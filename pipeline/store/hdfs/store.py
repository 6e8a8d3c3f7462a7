"""A store on HDFS, over WebHDFS: it needs no Java, no Hadoop on this machine and no native library."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import MissingFile
from crawlctl.pipeline.store.base import RemoteFile, Store, StoredFile, missing
from crawlctl.pipeline.store.file_names import check_name, is_name
from crawlctl.pipeline.store.hdfs.client import WebHdfs
from crawlctl.pipeline.store.hdfs.errors import HdfsProblem, explain
from crawlctl.pipeline.store.hdfs.namespace import discard, entry_of, remove, remove_all, walk
from crawlctl.pipeline.store.hdfs.upload import HdfsWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.store.hdfs.address import HdfsAddress
    from crawlctl.pipeline.store.hdfs.namespace import HdfsEntry

TEMPORARY = ".tmp-"
DELETE_BATCH = 1000  # names that are held at a time


class HdfsStore(Store):
    """A folder of HDFS; it is made by the first write."""

    def __init__(self, address: HdfsAddress) -> None:
        super().__init__(address.uri)
        self.client = WebHdfs(address)
        self._root = address.path
        self._user = address.user

    def path(self, name: str) -> str:
        """Return the path of a file in HDFS."""
        return f"{self._root}/{check_name(name)}"

    def temporary(self, name: str) -> str:
        """Return a new path, in the folder of a file, that no listing shows."""
        folder, _, _ = self.path(name).rpartition("/")
        return f"{folder}/{TEMPORARY}{os.urandom(8).hex()}"

    @contextmanager
    def explained(self, name: str = "") -> Iterator[None]:
        """Turn what goes wrong with a file, or with the store, into our errors."""
        try:
            yield
        except HdfsProblem as problem:
            raise explain(problem, self.locate(name) if name else self.uri, self._user) from problem

    def status(self, path: str) -> HdfsEntry:
        """Return what is known of a path, or raise HdfsProblem."""
        return entry_of(path, self.client.ask("GET", "GETFILESTATUS", path)["FileStatus"])

    def size(self, name: str) -> int:
        """Return the length of a file in bytes."""
        path = self.path(name)
        with self.explained(name):
            entry = self.status(path)
        if entry.is_folder:
            raise missing(self.locate(name))
        return entry.bytes

    def open(self, name: str) -> RemoteFile:
        """Look a file up once and return it for ranged reads."""
        return RemoteFile(self, name)

    def create(self, name: str, data: bytes) -> bool:
        """Write a small file as a whole unless the name is taken; return whether it holds this data now."""
        temporary = self.temporary(name)
        with self.explained(name):
            try:
                self.client.exchange("PUT", "CREATE", temporary, data, overwrite="true")
                if self.publish(temporary, name, len(data)):
                    return True
            except BaseException:
                discard(self.client, temporary)
                raise
            discard(self.client, temporary)
        return self._holds(name, data)

    def publish(self, temporary: str, name: str, size: int) -> bool:
        """Give a whole file its name; return False if that is taken, or raise HdfsProblem."""
        try:
            answer = self.client.ask(
                "PUT", "RENAME", temporary, destination=self.path(name), renameoptions="NONE"
            )
        except HdfsProblem as problem:
            if problem.is_taken:
                return False
            # The file is ours alone: if it is gone, an earlier try was carried out and its answer lost.
            if problem.is_absent and self._has_size(name, size):
                return True
            raise
        return answer is None or bool(answer.get("boolean", True))

    def sweep(self, folder: str, before: float, *, dry_run: bool = False) -> tuple[StoredFile, ...]:
        """Remove temporaries that are older than a time, and folders that have been empty since before it."""
        with self.explained(folder):
            found = list(walk(self.client, self.path(folder), lambda _: True))
            old = [entry for entry in found if entry.modified < before]
            temporaries = [entry for entry in old if not entry.is_folder and _is_temporary(entry)]
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

    def _has_size(self, name: str, size: int) -> bool:
        with suppress(HdfsProblem):
            return self.status(self.path(name)).bytes == size
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
        return HdfsWriter(name, self)

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


def _is_temporary(entry: HdfsEntry) -> bool:
    return entry.path.rpartition("/")[2].startswith(TEMPORARY)
