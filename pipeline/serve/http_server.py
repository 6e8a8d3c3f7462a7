"""Runs the server: uvicorn in this process, or in several that share one socket."""

from __future__ import annotations

import signal
import socket
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.processes.scratch import scratch_folder
from crawlctl.pipeline.serve.web_app import create_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from crawlctl.pipeline.serve.served_crawl import ServeOptions

BACKLOG = 256  # connections that the system keeps until a worker takes them
MAX_CONNECTIONS = 512  # of a worker; those above get 503
STOP_SECONDS = 1  # that answers under way get when the server ends
_ENDING = (signal.SIGINT, signal.SIGTERM)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as err:
        listener.close()
        raise ConfigError(
            f"cannot serve on {host} port {port}: {err.strerror or err}; give another --host or --port"
        ) from err
    listener.set_inheritable(True)
    return listener


def is_free(host: str, port: int) -> bool:
    """Return whether a server could listen on a port now."""
    try:
        listen(host, port).close()
    except ConfigError:
        return False
    return True


def address_of(listener: socket.socket) -> str:
    """Return the address to type into a browser; a server on all addresses is shown by that of loopback."""
    host, port = listener.getsockname()[:2]
    if ip_address(host).is_unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def serve(listener: socket.socket, options: ServeOptions, workers: int, ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM; `ready` is called as soon as browsers can connect."""
    with _signals_end_here(), scratch_folder() as scratch:
        ready()  # the socket listens already: who comes now waits for the first worker
        _run(listener, replace(options, metrics_folder=str(scratch)), workers)


def _run(listener: socket.socket, options: ServeOptions, workers: int) -> None:
    from uvicorn import Config, Server
    from uvicorn.supervisors import Multiprocess

    config = Config(
        partial(create_app, options),
        factory=True,
        workers=workers,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=STOP_SECONDS,
        timeout_worker_healthcheck=30,
    )
    if workers == 1:
        Server(config).run([listener])
    else:
        Multiprocess(config, [listener]).run()


@contextmanager
def _signals_end_here() -> Iterator[None]:
    """Let uvicorn end by itself: it raises a signal again when it has ended, and that shall do nothing."""
    before = {number: signal.signal(number, _nothing) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """Do nothing."""
