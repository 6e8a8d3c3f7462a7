"""The problems of a conversation with HDFS, and our errors for them, each with a remedy."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.store.base import missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.errors import StoreError

UNREACHABLE = "unreachable"
UNKNOWN_HOST = "unknown host"
UNTRUSTED = "certificate"
NOT_WEBHDFS = "not WebHDFS"
FAILING = "failing"

_LATER = "run the command again later; `hdfs dfsadmin -report` shows the state of the cluster"
_ADDRESS = "check the namenode in --store, HADOOP_CONF_DIR and CRAWLCTL_WEBHDFS"
_RIGHTS = (
    "let that user write there (hdfs dfs -chown), give another --store, or set HADOOP_USER_NAME to the owner"
)
_FULL = "free some space there, run `crawlctl gc`, or ask for a larger quota"
_NO_FOLDER = "part of that path is a file, not a folder; move it away or give another --store"
_BLOCKS = "`hdfs fsck` on that path shows what is lost; restore it from a copy of the store"

_BY_KIND = {
    UNREACHABLE: f"check that the cluster runs and can be reached from here, and {_ADDRESS}",
    UNKNOWN_HOST: f"{_ADDRESS}; this machine must also resolve the names of the datanodes",
    UNTRUSTED: "set REQUESTS_CA_BUNDLE to the certificate that signed the cluster's certificate",
    NOT_WEBHDFS: f"{_ADDRESS} (the web address of the namenode, port 9870, with dfs.webhdfs.enabled)",
    FAILING: _LATER,
    "StandbyException": f"no namenode is active; {_LATER}",
    "RetriableException": _LATER,
    "SafeModeException": (
        "the namenode takes no changes in safe mode: after a start it leaves it by itself, "
        "else `hdfs dfsadmin -safemode leave`"
    ),
    "AccessControlException": _RIGHTS,
    "AuthenticationException": "this cluster demands another way to sign in",
    "ParentNotDirectoryException": _NO_FOLDER,
    "NSQuotaExceededException": _FULL,
    "DSQuotaExceededException": _FULL,
    "QuotaByStorageTypeExceededException": _FULL,
    "BlockMissingException": _BLOCKS,
    "CorruptMetadataException": _BLOCKS,
    "PathComponentTooLongException": "the path of the store is too long; give a shorter --store",
    "MaxDirectoryItemsExceededException": "run `crawlctl gc`, or allow larger folders in the namenode",
}
# For IOException and RemoteException only the message tells what happened.
_BY_WORDS = (
    ("(is not a directory)", _NO_FOLDER),
    ("must both be directories", "a folder has that name; move it away or give another --store"),
    ("could only be written to", f"no datanode takes the data: all are full or down; {_LATER}"),
    ("Failed to find datanode", f"no datanode runs; {_LATER}"),
    ("No active nodes contain this block", f"the datanodes that hold it are down; {_LATER}"),
    ("Could not obtain block", _BLOCKS),
)
_KERBEROS = (
    "the cluster demands Kerberos, which crawlctl does not support: keep the crawl on s3://, "
    "or set CRAWLCTL_WEBHDFS to a gateway that takes user names"
)
_TRANSIENT = {UNREACHABLE, FAILING, "StandbyException", "RetriableException"}
# Messages of a datanode that cannot reach the namenode, for example during a restart; the class varies.
_CUT_OFF = (
    "End of File Exception between local host is",
    "Failed on local exception",
    "failed on connection exception",
    "failed on socket exception",
    "failed on socket timeout exception",
)


class HdfsProblem(Exception):
    """A request to HDFS that failed. `kind` is the name of a Java exception or one of the constants above.

    It never reaches the user: `explain` turns it into a StoreError.
    """

    def __init__(self, kind: str, said: str, address: str, status: int = 0) -> None:
        super().__init__(said)
        self.kind = kind
        self.said = " ".join(said.split()).rstrip(".")
        self.address = address
        self.status = status

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed a little later."""
        passes = "automatically" in self.said if self.kind == "SafeModeException" else self.kind in _TRANSIENT
        return passes or self.status >= 500 or any(words in self.said for words in _CUT_OFF)

    @property
    def is_absent(self) -> bool:
        """Whether the requested file does not exist."""
        return self.kind == "FileNotFoundException"

    @property
    def is_below_a_file(self) -> bool:
        """Whether a part of the path is a file, so that nothing can lie below it."""
        return "(is not a directory)" in self.said or self.kind == "ParentNotDirectoryException"

    @property
    def is_taken(self) -> bool:
        """Whether a path was refused because it exists."""
        return self.kind == "FileAlreadyExistsException"

    @property
    def is_past_the_end(self) -> bool:
        """Whether the requested range begins at the end of the file or later."""
        return self.kind == "IOException" and "out of the range" in self.said


def problem_of(status: int, content: bytes, url: str) -> HdfsProblem:
    """Return the problem that an error answer reports."""
    address = f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"
    try:
        remote = json.loads(content)["RemoteException"]
        return HdfsProblem(str(remote["exception"]), str(remote.get("message") or "refused"), address, status)
    except (ValueError, KeyError, TypeError):
        pass
    if status in {401, 407}:
        return HdfsProblem("AuthenticationException", f"refused with {status}", address, status)
    if status >= 500 or status == 429:
        return HdfsProblem(FAILING, f"answered {status}", address, status)
    words = content.decode("utf-8", "replace").strip()
    said = words.splitlines()[0][:120] if words and not words.startswith("<") else f"answered {status}"
    return HdfsProblem(NOT_WEBHDFS, f"this is not WebHDFS: {said}", address, status)


def explain(problem: HdfsProblem, where: str, user: str) -> StoreError:
    """Return our error for a problem with a file or folder."""
    if problem.is_absent:
        return missing(where)
    if problem.status in {401, 407} or "SIMPLE authentication is not enabled" in problem.said:
        return StoreUnavailable(f"{where}: {problem.address}: {problem.said}; {_KERBEROS}")
    remedy = next((text for words, text in _BY_WORDS if words in problem.said), None)
    remedy = remedy or _BY_KIND.get(problem.kind, _LATER)
    who = f" (asked as {user})" if problem.kind == "AccessControlException" else ""
    return StoreUnavailable(f"{where}: {problem.address}: {problem.said}{who}; {remedy}")


@contextmanager
def explained(where: str, user: str) -> Iterator[None]:
    """Turn an HdfsProblem of the block into our error for a file or folder."""
    try:
        yield
    except HdfsProblem as problem:
        raise explain(problem, where, user) from problem
