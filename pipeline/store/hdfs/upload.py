"""Streams a file of any length to HDFS, under a temporary name until it is complete.

When a writer vanishes, the datanode closes the file as if it were complete. So the file gets its final name
only at the end, by a rename. On HDFS a rename is atomic, and it fails if the new name exists.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.store.base import exists_already
from crawlctl.pipeline.store.hdfs.client import pause_or_raise
from crawlctl.pipeline.store.hdfs.errors import HdfsProblem, explained
from crawlctl.pipeline.store.hdfs.namespace import discard, publish, status_of, temporary_beside
from crawlctl.pipeline.store.hdfs.stream import DataStream
from crawlctl.pipeline.store.writer import StoreWriter

if TYPE_CHECKING:
    from crawlctl.pipeline.store.hdfs.client import WebHdfs

CHUNK_BYTES = 1 << 20
KEPT_CHUNKS = 16  # more than the network buffers hold, so a broken connection cannot lose more
APPENDED_BYTES = 8 << 20  # per request, after a connection has broken

# The namenode still believes that the previous writer, our broken connection, is alive.
_IN_USE = {"AlreadyBeingCreatedException", "RecoveryInProgressException", "LeaseExpiredException"}


class HdfsWriter(StoreWriter):
    """A new file: one request for all of it, and append requests only after a connection has broken."""

    def __init__(self, name: str, where: str, path: str, client: WebHdfs) -> None:
        super().__init__(name, CHUNK_BYTES)
        self._where = where  # the name of the file in messages
        self._path = path
        self._client = client
        self._temporary = temporary_beside(path)
        self._stream: DataStream | None = None
        self._sent = 0
        self._kept: deque[bytes] = deque(maxlen=KEPT_CHUNKS)

    def _send(self, chunk: bytes) -> None:
        with explained(self._where, self._client.user):
            self._forward(chunk)

    def _forward(self, chunk: bytes) -> None:
        is_first = self._sent == 0
        self._kept.append(chunk)
        self._sent += len(chunk)
        try:
            if is_first:
                url = self._client.locate("PUT", "CREATE", self._temporary, overwrite="true")
                self._stream = DataStream(url)
            if self._stream is not None:
                self._stream.send(chunk)
                return
        except HdfsProblem as problem:
            self._break_off(problem)
        self._append_missing()

    def _break_off(self, problem: HdfsProblem) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        if not problem.is_transient:
            raise problem
        self.chunk_bytes = APPENDED_BYTES

    def _append_missing(self) -> None:
        """Append the bytes that have not arrived, and check again, until all bytes have arrived."""
        limit = self._client.retry_limit()
        problem: HdfsProblem | None = None
        while (arrived := self._arrived()) != self._sent:
            if problem is not None:
                pause_or_raise(limit, problem, also=problem.kind in _IN_USE)
            missing = self._missing(arrived)
            try:
                if arrived:
                    self._client.send("POST", self._client.locate("POST", "APPEND", self._temporary), missing)
                else:
                    self._client.exchange("PUT", "CREATE", self._temporary, missing, overwrite="true")
                problem = None
            except HdfsProblem as err:
                problem = err

    def _arrived(self) -> int:
        try:
            return status_of(self._client, self._temporary).bytes
        except HdfsProblem as problem:
            if problem.is_absent:
                return 0
            raise

    def _missing(self, arrived: int) -> bytes:
        kept = b"".join(self._kept)
        if not self._sent - len(kept) <= arrived < self._sent:
            raise StoreUnavailable(
                f"{self._where}: a datanode lost data that it had received; run the command again"
            )
        return kept[arrived - self._sent :]

    def _finish(self, last: bytes) -> None:
        with explained(self._where, self._client.user):
            if self._sent == 0:
                self._client.exchange("PUT", "CREATE", self._temporary, last, overwrite="true")
            else:
                self._end_stream(last)
            if not publish(self._client, self._temporary, self._path, self.bytes):
                raise exists_already(self._where)

    def _end_stream(self, last: bytes) -> None:
        if last:
            self._forward(last)
        if self._stream is None:
            return
        try:
            self._stream.finish()
        except HdfsProblem as problem:
            self._break_off(problem)
            self._append_missing()
        self._stream = None

    def discard(self) -> None:
        """Remove the unfinished file."""
        with suppress(HdfsProblem):
            # An aborted request may still be carried out after the removal; a finished one cannot.
            if self._stream is not None:
                self._stream.finish()
        discard(self._client, self._temporary)
        self._stream = None
        self.close()
