"""The main program of the process that serves the demo web.

web.py starts the process; it ends when its standard input ends. It reads an order, one line of JSON, and
answers with one line when all sites are ready. It uses only the standard library, because every imported
module shows on the page of `sys`.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from crawlctl.pipeline.demo.modules import module_names
from crawlctl.pipeline.demo.pages import SITES, build_sites
from crawlctl.pipeline.demo.render import render
from crawlctl.pipeline.demo.web_server import ANY_PORT, AccessLog, SiteServer


def main() -> None:
    """Serve until the parent closes our standard input or ends."""
    order = json.loads(sys.stdin.readline())
    lifeline = threading.Thread(target=_end_with_parent, daemon=True)
    lifeline.start()
    answers = _take_stdout()
    try:
        servers = _bind(order["port"], order["access_log"])
    except OSError as err:
        _answer(answers, {"error": err.strerror})
        return
    _answer(answers, {"sites": _serve(servers, order["packages"])})
    lifeline.join()


def _bind(port: int, access_log: str | None) -> list[SiteServer]:
    log = AccessLog(Path(access_log)) if access_log else None
    return [SiteServer(port + number if port else ANY_PORT, log) for number in range(SITES)]


def _serve(servers: list[SiteServer], packages: list[str]) -> list[tuple[str, int]]:
    """Start all sites; return the URL and the number of pages of each."""
    for environment in (os.environ, sys.modules[os.name].environ):
        environment.clear()  # several modules show it on their pages
    names = (name for name in module_names() if not packages or name.partition(".")[0] in packages)
    sites = build_sites(render(names), [server.base for server in servers])
    gc.freeze()
    for server, site in zip(servers, sites, strict=True):
        server.start(site)
    return [
        (server.base, sum(page.modified is not None for page in site.values()))
        for server, site in zip(servers, sites, strict=True)
    ]


def _answer(answers: int, answer: dict[str, Any]) -> None:
    os.write(answers, json.dumps(answer).encode() + b"\n")


def _take_stdout() -> int:
    """Return a descriptor for the answer, and discard what modules print when they are imported."""
    answers = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return answers


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)
