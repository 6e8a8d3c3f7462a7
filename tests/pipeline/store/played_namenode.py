"""A small HTTP server that gives the answers it is told, word for word as a Hadoop 3.4 gave them."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Answer = tuple[int, str]  # status and body

STATUS = {
    "accessTime": 1794823055143,
    "blockSize": 134217728,
    "childrenNum": 0,
    "fileId": 16485,
    "group": "supergroup",
    "length": 10,
    "modificationTime": 1794823055319,
    "owner": "root",
    "pathSuffix": "",
    "permission": "644",
    "replication": 1,
    "storagePolicy": 0,
    "type": "FILE",
}
FOUND: Answer = (200, json.dumps({"FileStatus": STATUS}))
HTML_404: Answer = (404, "<html>\n<head><title>Error 404 Not Found</title></head></html>\n")
IPC_PORT: Answer = (
    404,
    "It looks like you are making an HTTP request to a Hadoop IPC port. "
    "This is not the correct port for the web interface on this daemon.\n",
)


def refusal(status: int, exception: str, message: str) -> Answer:
    """Return an answer of WebHDFS that carries an exception."""
    return status, json.dumps(
        {"RemoteException": {"exception": exception, "javaClassName": exception, "message": message}}
    )


class PlayedNamenode:
    """Answers each request with the next of the answers, and all further ones with the last."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self._lock = threading.Lock()
        played = self

        class Handler(_Handler):
            owner = played

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def next_answer(self, request: str, path: str) -> Answer:
        query = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
        with self._lock:
            self.asked.append((f"{request} {urlsplit(path).path}", query))
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: PlayedNamenode

    def handle_request(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, text = self.owner.next_answer(self.command, self.path)
        if status == 0:  # no answer at all
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    do_GET = do_PUT = do_POST = do_DELETE = handle_request  # noqa: N815 - names of the base class

    def log_message(self, *_arguments: Any) -> None:
        """Keep the output of the tests clean."""
