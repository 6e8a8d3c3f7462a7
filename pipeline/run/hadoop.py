"""Two things mrjob does not do on a cluster: read all output in one go, and stop what was interrupted."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crawlctl.pipeline.run.logs import MrjobLog

KILL_SECONDS = 60
# By its class, so that it works with the one program mrjob needs to know of; `yarn` need not be there.
YARN_CLIENT = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"


def read_output(runner: Any) -> bytes:
    """Return all part files of the job; mrjob would start a JVM of some seconds for each of them."""
    output: bytes = runner.fs.hadoop.invoke_hadoop(
        ["fs", "-cat", f"{runner.get_output_dir()}/part-*"], return_stdout=True
    )
    return output


def kill_application(runner: Any, mrjob_log: MrjobLog) -> None:
    """Stop the job's application on the cluster, which would go on when its client is gone."""
    application = mrjob_log.application()
    if application is None:
        return
    command = [*runner.get_hadoop_bin(), YARN_CLIENT, "application", "-kill", application]
    # We are on the way out because of a signal: a client that fails or hangs must not keep us.
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=KILL_SECONDS, check=False
        )
