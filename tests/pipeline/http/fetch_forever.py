"""Fetches the URL it is given until Ctrl-C, then says how many more files are open than before."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from crawlctl.pipeline.config.settings import FetchSettings
from crawlctl.pipeline.http.engine import Engine
from crawlctl.pipeline.http.exchange import Request


def open_files() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


def started(settings: FetchSettings) -> Engine:
    """Return an engine that has fetched the URL once."""
    engine = Engine(settings)
    engine.submit(Request(sys.argv[1]))
    while not engine.poll():
        pass
    return engine


def main() -> None:
    settings = FetchSettings(contact="https://example.org/bot", allowed_networks=("127.0.0.0/8",))
    # A library may keep a file open once it was used: a newer libffi keeps its own.
    started(settings).close()
    before = open_files()
    engine = started(settings)
    # The exception holds what was being worked on until the block is left.
    with suppress(KeyboardInterrupt):
        print("fetching", flush=True)
        while True:
            engine.submit(Request(sys.argv[1]))
            if engine.in_flight > 20:
                engine.poll()
    engine.close()
    print("left open:", open_files() - before, flush=True)


if __name__ == "__main__":
    main()
