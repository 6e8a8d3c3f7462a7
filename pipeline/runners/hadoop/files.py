"""HDFS for mrjob's runner, over WebHDFS: each `hadoop fs` would start a JVM and take seconds."""

from __future__ import annotations

import io
import logging
import socket
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.mrjob_light import light_imports
from crawlctl.pipeline.store.hdfs.address import HdfsAddress, find_address
from crawlctl.pipeline.store.hdfs.client import WebHdfs
from crawlctl.pipeline.store.hdfs.errors import HdfsProblem
from crawlctl.pipeline.store.hdfs.namespace import HdfsEntry, entry_of, in_threads, walk

with light_imports():
    from mrjob.fs.base import Filesystem

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger(__name__)

GLOB = frozenset("*?[{")
PROBE = "/crawlctl-probe"  # never created
CONNECT_SECONDS = 10


def web_hdfs(authority: str) -> WebHdfs | None:
    """Return the WebHDFS of a cluster, by its name in hdfs:// URIs, None if it cannot be reached."""
    try:
        return _tried(find_address(f"hdfs://{authority}/"))
    except ConfigError as err:
        log.debug("no WebHDFS: %s", err)
        return None


@cache
def _tried(address: HdfsAddress) -> WebHdfs | None:
    """Return the service if it answers and its datanodes can be reached from here."""
    client = WebHdfs(address)
    try:
        datanode = urlsplit(
            client.locate("PUT", "CREATE", PROBE, overwrite="false")
        )  # this request creates no file yet
        socket.create_connection((datanode.hostname, datanode.port or 80), CONNECT_SECONDS).close()
    except (HdfsProblem, OSError) as err:
        log.debug("files of HDFS go through the program `hadoop`, since WebHDFS cannot be used: %s", err)
        return None
    return client


class WebHdfsFiles(Filesystem):  # type: ignore[misc]  # mrjob has no types
    """The files of an HDFS with WebHDFS; other paths are left to mrjob's next file system."""

    def can_handle_path(self, path: str) -> bool:
        """Return whether a URI is of HDFS, names one file or folder, and can be reached."""
        parts = urlsplit(path)
        return parts.scheme == "hdfs" and not GLOB & set(path) and web_hdfs(parts.netloc) is not None

    def exists(self, path: str) -> bool:
        """Return whether there is such a file or folder."""
        return self._entry(path) is not None

    def mkdir(self, path: str) -> None:
        """Make a folder and its parents."""
        client, place = _located(path)
        self._try(path, partial(client.ask, "PUT", "MKDIRS", place))

    def put(self, src: str, path: str) -> None:
        """Copy a small file from this machine."""
        client, place = _located(path)
        content = Path(src).read_bytes()
        self._try(path, partial(client.exchange, "PUT", "CREATE", place, content, overwrite="true"))

    def ls(self, path: str) -> Iterator[str]:
        """Yield the URIs of all files below a folder, or of the file."""
        root = path[: -len(urlsplit(path).path)]
        for entry in self.files(path):
            yield root + entry.path

    def files(self, path: str) -> list[HdfsEntry]:
        """Return all files below a folder, or the file, sorted."""
        client, place = _located(path)
        found = self._entry(path)
        if found is None or not found.is_folder:
            return [found] if found else []
        below = self._try(path, lambda: list(walk(client, place, lambda _: True)))
        return sorted(entry for entry in below if not entry.is_folder)

    def du(self, path: str) -> int:
        """Return the bytes of all files below a folder."""
        return sum(entry.bytes for entry in self.files(path))

    def rm(self, path: str) -> None:
        """Remove a file or a folder with all in it."""
        client, place = _located(path)
        self._try(path, partial(client.ask, "DELETE", "DELETE", place, recursive="true"))

    def read_all(self, folder: str, prefix: str) -> Iterator[bytes]:
        """Yield the content of the files of a folder whose names have a prefix, in their order."""
        client, place = _located(folder)
        start = f"{place}/{prefix}"
        paths = [entry.path for entry in self.files(folder) if entry.bytes and entry.path.startswith(start)]
        yield from self._try(folder, lambda: in_threads(partial(client.exchange, "GET", "OPEN"), paths))

    def _cat_file(self, path: str) -> Iterator[bytes]:
        from mrjob.cat import decompress

        client, place = _located(path)
        content = self._try(path, partial(client.exchange, "GET", "OPEN", place))
        yield from decompress(io.BytesIO(content), path)

    def _entry(self, path: str) -> HdfsEntry | None:
        client, place = _located(path)
        try:
            return entry_of(place, client.ask("GET", "GETFILESTATUS", place)["FileStatus"])
        except HdfsProblem as problem:
            if problem.is_absent:
                return None
            raise _failed(path, problem) from problem

    def _try(self, path: str, request: Any) -> Any:
        try:
            return request()
        except HdfsProblem as problem:
            raise _failed(path, problem) from problem


def _located(path: str) -> tuple[WebHdfs, str]:
    parts = urlsplit(path)
    client = web_hdfs(parts.netloc)
    if client is None:
        raise OSError(f"{path} cannot be reached over WebHDFS")
    return client, parts.path.rstrip("/") or "/"


def _failed(path: str, problem: HdfsProblem) -> OSError:
    return OSError(f"{path}: {problem.said} ({problem.address})")
