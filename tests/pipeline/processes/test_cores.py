from __future__ import annotations

import os

from crawlctl.pipeline.processes.cores import usable_cores


def test_usable_cores_are_some_of_the_machines() -> None:
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)
