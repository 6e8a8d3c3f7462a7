"""A client of WebHDFS: asks the active namenode, and exchanges bytes with the datanodes that it names.

Requests are sent again for a while if that can help. So every request may be carried out twice: callers send
only requests that may be repeated without harm, or find out afterwards what was done.

Why not pyhdfs, hdfscli or fsspec: they would replace only this file and errors.py, about 200 lines. None of
them appends the missing bytes after a connection breaks (upload.py), reads short ranges from the last
datanode, or tells the user what to do about an error.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

import requests

from crawlctl.pipeline.store.hdfs.connections import TIMEOUTS, make_session, unreachable
from crawlctl.pipeline.store.hdfs.errors import (
    NOT_WEBHDFS,
    UNKNOWN_HOST,
    UNREACHABLE,
    HdfsProblem,
    problem_of,
)
from crawlctl.pipeline.store.per_process import PerProcess
from crawlctl.pipeline.store.retry_limits import RetryLimit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlctl.pipeline.store.hdfs.address import HdfsAddress

SHORT_BYTES = 256 << 10  # a datanode brings this much from another datanode as fast as from its own disk
ROOT = "/webhdfs/v1"

_DATA = {"Content-Type": "application/octet-stream"}


class WebHdfs:
    """The web service of an HDFS cluster; it remembers the active namenode and the last datanode."""

    def __init__(self, address: HdfsAddress) -> None:
        self._address = address
        self._active = 0  # index of the namenode that answered last
        self._is_known = False
        self._datanode: _Datanode | None = None
        self.session = PerProcess(make_session)
        self.user = address.user

    def ask(self, method: str, operation: str, path: str, **parameters: str | int) -> Any:
        """Ask the active namenode and return its decoded JSON answer, or raise HdfsProblem."""
        limit = self.retry_limit()
        while True:
            try:
                return self.ask_once(method, operation, path, **parameters)
            except HdfsProblem as problem:
                is_known_elsewhere = problem.kind == UNKNOWN_HOST and len(self._address.namenodes) > 1
                if problem.is_transient or is_known_elsewhere:
                    self._active = (self._active + 1) % len(self._address.namenodes)
                pause_or_raise(limit, problem, also=is_known_elsewhere)

    def ask_once(self, method: str, operation: str, path: str, **parameters: str | int) -> Any:
        """Ask the active namenode once, without retries."""
        url = self._url(operation, path, parameters)
        content = self.send(method, url)
        self._is_known = True
        return _decode(content, url)

    def read(self, path: str, start: int, length: int | None) -> bytes:
        """Read a range of a file, or raise HdfsProblem.

        Any datanode can read any file. So a short range is requested from the datanode that served the last
        one: that takes one round trip instead of two. A long range is read where the namenode says it lies.
        """
        limit: dict[str, Any] = {} if length is None else {"length": length}
        if self._datanode and length is not None and length <= SHORT_BYTES:
            with suppress(HdfsProblem):  # ask the namenode instead
                pairs = {**self._datanode.parameters, "offset": str(start), "length": str(length)}
                return self.send("GET", f"{self._datanode.address}{quote(path)}?{_query(pairs)}")
            self._datanode = None
        return self.exchange("GET", "OPEN", path, offset=start, **limit)

    def exchange(
        self, method: str, operation: str, path: str, data: bytes | None = None, **parameters: str | int
    ) -> bytes:
        """Send data to the datanode that the namenode names, or read from it, or raise HdfsProblem."""
        limit = self.retry_limit()
        avoided: dict[str, str] = {}
        while True:
            try:
                url = self.locate(method, operation, path, **avoided, **parameters)
                content = self.send(method, url, data)
                if operation == "OPEN":
                    self._datanode = _datanode_of(url)
                return content
            except HdfsProblem as problem:
                pause_or_raise(limit, problem, also=bool(avoided))  # there may be no other datanode
                avoided = avoid(problem)

    def locate(self, method: str, operation: str, path: str, **parameters: str | int) -> str:
        """Ask the namenode for an operation, and return the URL of the datanode that will do it."""
        answer = self.ask(method, operation, path, noredirect="true", **parameters)
        return str(answer["Location"])

    def send(self, method: str, url: str, data: bytes | None = None) -> bytes:
        """Send one request and return the content of the answer, or raise HdfsProblem."""
        headers = None if data is None else _DATA
        try:
            answer = self.session().request(
                method, url, data=data, headers=headers, timeout=TIMEOUTS, allow_redirects=False
            )
        except requests.RequestException as err:
            raise unreachable(err, url) from err
        if answer.status_code >= 300:
            raise problem_of(answer.status_code, answer.content, url)
        return answer.content

    def retry_limit(self) -> RetryLimit:
        """Return a limit, which starts now, for the tries of one request."""
        return RetryLimit(is_known=self._is_known)

    def _url(self, operation: str, path: str, parameters: dict[str, str | int]) -> str:
        query = {"op": operation, "user.name": self._address.user, **parameters}
        return f"{self._address.namenodes[self._active]}{ROOT}{quote(path)}?{_query(query)}"


def pause_or_raise(limit: RetryLimit, problem: HdfsProblem, *, also: bool = False) -> None:
    """Sleep before the next try; raise the problem if it will not pass (unless `also`) or the time is up."""
    if not (problem.is_transient or also):
        raise problem
    pause = limit.next_pause(f"{problem.address}: {problem.said}")
    if pause is None:
        raise problem
    time.sleep(pause)


class _Datanode(NamedTuple):
    """The datanode that served the last read, and the parameters of that request except the range."""

    address: str
    parameters: dict[str, str]


def _datanode_of(url: str) -> _Datanode:
    parts = urlsplit(url)
    parameters = {name: value for name, value in parse_qsl(parts.query) if name not in {"offset", "length"}}
    return _Datanode(f"{parts.scheme}://{parts.netloc}{ROOT}", parameters)


def _query(parameters: Mapping[str, str | int]) -> str:
    return "&".join(f"{name}={quote(str(value), safe='/')}" for name, value in parameters.items())


def avoid(problem: HdfsProblem) -> dict[str, str]:
    """Return the parameter that makes the namenode choose another datanode than the one that failed."""
    host = urlsplit(problem.address).hostname if problem.kind == UNREACHABLE else None
    return {"excludedatanodes": host} if host else {}


def _decode(content: bytes, url: str) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError as err:
        address = f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"
        raise HdfsProblem(NOT_WEBHDFS, "this is not WebHDFS: the answer is not JSON", address) from err
