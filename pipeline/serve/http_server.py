"""Runs the server: uvicorn in this process, or in several that share one socket."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import traceback
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError, CrawlctlError, ServerFailed
from crawlctl.pipeline.processes.scratch import scratch_folder
from crawlctl.pipeline.serve.limits.client_address import checked_proxies
from crawlctl.pipeline.serve.web_app import create_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from starlette.types import ASGIApp
    from uvicorn import Config

    from crawlctl.pipeline.serve.served_crawl import ServeOptions

BACKLOG = 256  # the most connections that the system holds until a worker accepts them
MAX_CONNECTIONS = 512  # per worker; further connections get 503
STOP_SECONDS = 1  # how long unfinished answers may take when the server ends
_FAILURE = "failure"  # the file into which a worker writes why it cannot start
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
    """Return the address to type into a browser; for a server on all addresses, the address of loopback."""
    host, port = listener.getsockname()[:2]
    if ip_address(host).is_unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def serve(listener: socket.socket, options: ServeOptions, workers: int, ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM; `ready` is called as soon as browsers can connect and signals count."""
    with _signals_restored(), scratch_folder() as scratch:
        run = _server(listener, replace(options, metrics_folder=str(scratch)), workers)
        ready()  # the socket listens already: new connections wait for the first worker
        run()


def _server(listener: socket.socket, options: ServeOptions, workers: int) -> Callable[[], None]:
    """Return the function that serves; signals end it from now on, even before it is called."""
    from uvicorn import Config, Server

    logging.getLogger("uvicorn.error").addFilter(_is_news)
    config = Config(
        partial(_app_of_worker, create_app, options) if workers > 1 else partial(create_app, options),
        factory=True,
        workers=workers,
        lifespan="on" if options.mcp else "off",
        log_config=None,
        log_level="error",  # no line for each connection that is refused
        access_log=False,
        server_header=False,
        forwarded_allow_ips=list(checked_proxies(options.proxies)),
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=STOP_SECONDS,
        timeout_worker_healthcheck=30,
    )
    if workers > 1:
        return _supervisor(config, listener, Path(options.metrics_folder) / _FAILURE)
    server = Server(config)

    def end(_number: int, _frame: FrameType | None) -> None:
        # uvicorn raises the signal again when it has ended; the second signal does nothing
        server.should_exit = True

    for number in _ENDING:
        signal.signal(number, end)
    return partial(server.run, [listener])


def _end_with_parent() -> None:
    """End this worker once the process that started it is gone, even killed: else it would keep the port."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether uvicorn's message is for the operator: that answers are broken off at the end is not."""
    return not str(record.msg).startswith("Cancel %s running task")


def _app_of_worker(create: Callable[[ServeOptions], ASGIApp], options: ServeOptions) -> ASGIApp:
    """Return the application of a worker; if that fails, end so that uvicorn does not try again for ever."""
    from uvicorn.config import STARTUP_FAILURE

    logging.getLogger("uvicorn.error").addFilter(_is_news)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        return create(options)
    except Exception as err:  # any error: the next worker would fail in the same way
        why = str(err)
        if not isinstance(err, CrawlctlError):
            traceback.print_exc()
            why = f"{type(err).__name__}: {err}; its traceback is above"
        with suppress(OSError):  # the server ends even if the disk is full
            (Path(options.metrics_folder) / _FAILURE).write_text(why, "utf-8")
        sys.exit(STARTUP_FAILURE)


def _supervisor(config: Config, listener: socket.socket, failure: Path) -> Callable[[], None]:
    """Return the function that runs the workers; it raises if one of them cannot start."""
    from uvicorn.config import STARTUP_FAILURE
    from uvicorn.supervisors import Multiprocess

    workers = Multiprocess(config, [listener])

    def run() -> None:
        workers.run()
        if any(one.exitcode == STARTUP_FAILURE for one in workers.processes):
            why = failure.read_text("utf-8") if failure.exists() else "try --workers 1 to see why"
            raise ServerFailed(f"a worker process cannot start: {why}")

    return run


@contextmanager
def _signals_restored() -> Iterator[None]:
    """Restore the caller's signal handlers at the end."""
    before = {number: signal.getsignal(number) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
