"""`crawlctl serve` in which only the first worker can make its application, for tests of a failing start."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.cli import run
from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.serve import http_server
from crawlctl.pipeline.serve.web_app import create_app

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from crawlctl.pipeline.serve.served_crawl import ServeOptions

FAULTS = {"known": StoreUnavailable("the bucket is gone; bring it back"), "unknown": KeyError("odd")}


def first_only(fault: str, options: ServeOptions) -> ASGIApp:
    """Make the application in the first worker that asks, and raise in all others."""
    try:
        (Path(options.metrics_folder) / "first").touch(exist_ok=False)
    except FileExistsError:
        raise FAULTS[fault] from None
    return create_app(options)


def known(options: ServeOptions) -> ASGIApp:
    return first_only("known", options)


def unknown(options: ServeOptions) -> ASGIApp:
    return first_only("unknown", options)


def main(fault: str, *arguments: str) -> int:
    """Serve with an application that has a fault."""
    setattr(http_server, "create_app", {"known": known, "unknown": unknown}[fault])  # noqa: B010
    return run(["serve", "--port", "0", *arguments])


if __name__ == "__main__":
    from crawlctl.tests.pipeline.serve import failing_server  # whose functions a worker can import by name

    sys.exit(failing_server.main(*sys.argv[1:]))
