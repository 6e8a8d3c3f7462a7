"""The driver of the signal tests: runs the sleeping job on the runner and with the scratch folder named."""

from __future__ import annotations

import sys
from pathlib import Path

from crawlctl.pipeline.run.runner import run_job
from crawlctl.pipeline.run.settings import RunnerSettings

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    from sleeping import Sleeping

    runner, lines, scratch = sys.argv[1:]
    run_job(Sleeping, [lines], settings=RunnerSettings(name=runner, workers=3, tmp_dir=scratch))
