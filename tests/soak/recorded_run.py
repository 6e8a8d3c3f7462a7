"""Crawls a web on this machine and notes each step on the disk, in the file `log` of a folder.

`python -m crawlctl.tests.soak.recorded_run STORE FOLDER SEED…` is a program of its own, so that the lease in
a folder that was cut off belongs to a process that is gone, as after a real power cut.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from crawlctl.pipeline.state.garbage import collect
from crawlctl.pipeline.state.leases.lease import hold_lease
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.soak.power_cut import Recorder
from crawlctl.tests.soak.small_web import crawl_all, small_config


class NotedStore(LocalStore):
    """A store that notes when it has told its caller that a small file is there for good."""

    def __init__(self, root: Path, recorder: Recorder) -> None:
        super().__init__(root)
        self._recorder = recorder

    def create(self, name: str, data: bytes) -> bool:
        """Create a file, and note that it was promised."""
        created = super().create(name, data)
        if created:
            self._recorder.note("returned", name)
        return created


def main() -> None:
    store_folder, folder, *seeds = sys.argv[1:]
    Path(store_folder).mkdir()
    recorder = Recorder(Path(store_folder), Path(folder, "log"))
    recorder.start()
    store: Any = NotedStore(Path(store_folder), recorder)
    crawl_all(store, small_config(Path(folder)), seeds)
    with hold_lease(store, 60, "gc"):
        collect(store, keep=1, min_age=0, now=time.time() + 1)


if __name__ == "__main__":
    main()
