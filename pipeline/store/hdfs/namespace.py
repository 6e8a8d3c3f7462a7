"""Looks up, lists, renames and removes paths of HDFS.

Each lookup is a request, so the folders of one depth are listed at the same time, in threads.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from crawlctl.pipeline.store.hdfs.connections import THREADS
from crawlctl.pipeline.store.hdfs.errors import HdfsProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.store.hdfs.client import WebHdfs

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

TEMPORARY = ".tmp-"
NOT_EMPTY = "PathIsNotEmptyDirectoryException"


class HdfsEntry(NamedTuple):
    """A file or folder; the path is absolute, `modified` is in seconds since 1970."""

    path: str
    is_folder: bool
    bytes: int
    modified: float


def entry_of(path: str, status: dict[str, Any]) -> HdfsEntry:
    """Return the entry that a FileStatus of WebHDFS describes."""
    is_folder = status["type"] == "DIRECTORY"
    return HdfsEntry(path, is_folder, int(status["length"]), status["modificationTime"] / 1000)


def status_of(client: WebHdfs, path: str) -> HdfsEntry:
    """Return what is known of a path, or raise HdfsProblem."""
    return entry_of(path, client.ask("GET", "GETFILESTATUS", path)["FileStatus"])


def temporary_beside(path: str) -> str:
    """Return a new path in the folder of a file that no listing of the store shows."""
    return f"{path.rpartition('/')[0]}/{TEMPORARY}{os.urandom(8).hex()}"


def is_temporary(path: str) -> bool:
    """Tell whether `temporary_beside` made a path."""
    return path.rpartition("/")[2].startswith(TEMPORARY)


def publish(client: WebHdfs, temporary: str, path: str, size: int) -> bool:
    """Rename a whole file to its final path; return False if that path is taken, or raise HdfsProblem."""
    try:
        answer = client.ask("PUT", "RENAME", temporary, destination=path, renameoptions="NONE")
    except HdfsProblem as problem:
        if problem.is_taken:
            return False
        # The temporary file is ours alone: if it is gone, an earlier try succeeded and its answer was lost.
        if problem.is_absent and _has_size(client, path, size):
            return True
        raise
    return answer is None or bool(answer.get("boolean", True))


def _has_size(client: WebHdfs, path: str, size: int) -> bool:
    with suppress(HdfsProblem):
        return status_of(client, path).bytes == size
    return False


def list_folder(client: WebHdfs, path: str) -> Iterator[HdfsEntry]:
    """Yield the entries of a folder, page by page; nothing if it does not exist or is a file."""
    parameters: dict[str, str | int] = {}
    while True:
        try:
            answer = client.ask("GET", "LISTSTATUS_BATCH", path or "/", **parameters)["DirectoryListing"]
        except HdfsProblem as problem:
            if problem.is_absent or problem.is_below_a_file:
                return
            raise
        statuses = answer["partialListing"]["FileStatuses"]["FileStatus"]
        # The listing of a file is the file itself, without a name.
        yield from (entry_of(f"{path}/{one['pathSuffix']}", one) for one in statuses if one["pathSuffix"])
        if not answer["remainingEntries"] or not statuses:
            return
        parameters = {"startAfter": statuses[-1]["pathSuffix"]}


def walk(client: WebHdfs, path: str, enters: Callable[[HdfsEntry], bool]) -> Iterator[HdfsEntry]:
    """Yield all entries below a folder, in no order; only folders for which `enters` is true are entered."""
    level = [path]
    while level:
        found = [entry for folder in _at_once(client, level) for entry in folder]
        yield from found
        level = [entry.path for entry in found if entry.is_folder and enters(entry)]


def _at_once(client: WebHdfs, folders: list[str]) -> list[list[HdfsEntry]]:
    return in_threads(lambda folder: list(list_folder(client, folder)), folders)


def remove(client: WebHdfs, path: str) -> bool:
    """Delete a file or an empty folder; return whether it was deleted."""
    try:
        return bool(client.ask("DELETE", "DELETE", path, recursive="false")["boolean"])
    except HdfsProblem as problem:
        if problem.kind == NOT_EMPTY or problem.is_below_a_file:
            return False
        raise


def discard(client: WebHdfs, path: str) -> None:
    """Try once to delete a temporary file; if that fails, `crawlctl gc` does it later."""
    with suppress(HdfsProblem):
        client.ask_once("DELETE", "DELETE", path, recursive="false")


def remove_all(client: WebHdfs, paths: Iterable[str], root: str) -> None:
    """Delete files, and then the folders above them that have become empty, up to the root."""
    level = list(paths)
    while level:
        gone = in_threads(lambda path: remove(client, path), level)
        parents = {path.rpartition("/")[0] for path, is_gone in zip(level, gone, strict=True) if is_gone}
        level = sorted(path for path in parents if path.startswith(f"{root}/"))


def in_threads(function: Callable[[_Item], _Result], items: list[_Item]) -> list[_Result]:
    """Call a function for all items, in threads; return the results in order, or raise the first error."""
    if len(items) < 2:
        return list(map(function, items))
    with ThreadPoolExecutor(min(THREADS, len(items)), "crawlctl-hdfs") as threads:
        return list(threads.map(function, items))
