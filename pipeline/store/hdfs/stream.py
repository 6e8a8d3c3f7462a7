"""A streamed PUT to a datanode: the body is sent while the caller produces it."""

from __future__ import annotations

import http.client
import os
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlctl.pipeline.store.hdfs.connections import TIMEOUTS, unreachable
from crawlctl.pipeline.store.hdfs.errors import problem_of

if TYPE_CHECKING:
    from crawlctl.pipeline.store.hdfs.errors import HdfsProblem

_BROKEN = (OSError, http.client.HTTPException)


class DataStream:
    """One PUT request with a chunked body, until `finish` or `close`.

    The library requests is not used: it pulls the body from an iterator, and pushing data into an iterator
    would take another thread.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        parts = urlsplit(url)
        try:
            self._connection = _connect(parts.scheme, parts.netloc)
            self._connection.putrequest("PUT", f"{parts.path}?{parts.query}", skip_accept_encoding=True)
            self._connection.putheader("Content-Type", "application/octet-stream")
            self._connection.putheader("Transfer-Encoding", "chunked")
            self._connection.endheaders()
        except _BROKEN as err:
            raise unreachable(err, url) from err

    def send(self, chunk: bytes) -> None:
        """Send a chunk that is not empty."""
        try:
            self._connection.send(b"%x\r\n" % len(chunk))
            self._connection.send(chunk)
            self._connection.send(b"\r\n")
        except _BROKEN as err:
            raise self._reason(err) from err

    def finish(self) -> None:
        """End the body and wait until the datanode confirms that it has all of it."""
        try:
            self._connection.send(b"0\r\n\r\n")
            answer = self._connection.getresponse()
            content = answer.read()
        except _BROKEN as err:
            raise self._reason(err) from err
        finally:
            self._connection.close()
        if answer.status >= 300:
            raise problem_of(answer.status, content, self._url)

    def close(self) -> None:
        """Close the connection; a request that is not finished is aborted."""
        self._connection.close()

    def _reason(self, err: Exception) -> HdfsProblem:
        # A datanode that refuses the data sends an answer that says why, before it closes the connection.
        with suppress(*_BROKEN):
            answer = self._connection.getresponse()
            if answer.status >= 300:
                return problem_of(answer.status, answer.read(), self._url)
        return unreachable(err, self._url)


def _connect(scheme: str, netloc: str) -> http.client.HTTPConnection:
    if scheme == "http":
        return http.client.HTTPConnection(netloc, timeout=TIMEOUTS[1])
    trusted = ssl.create_default_context(cafile=os.environ.get("REQUESTS_CA_BUNDLE") or None)
    return http.client.HTTPSConnection(netloc, timeout=TIMEOUTS[1], context=trusted)
