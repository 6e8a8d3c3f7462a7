"""Why a cluster ended before its steps did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.errors import JobFailed
from crawlctl.pipeline.runners.job_failures import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

_REMEDIES = (
    ("bootstrap", "read what it wrote to stderr below {logs}, under node/…/bootstrap-actions/"),
    ("capacity", "name more instance types in the fleets, or another subnet, and run the command again"),
    ("spot", "name more instance types in the fleets, or fewer spot instances, and run the command again"),
    ("limit", "ask AWS for a higher limit of vCPUs, or make the fleets smaller"),
    ("user request", "run the command again to go on"),
    ("master", "it was stopped while it had work; run the command again to go on"),
)
_GENERAL = "look for the reason below {logs}, and run the command again"


def cluster_failed(cluster: Mapping[str, Any], logs: str, stderr: str = "") -> JobFailed:
    """Return the error for a cluster that is no more; `stderr` is what its set-up wrote, if that failed."""
    status = cluster["Status"]
    reason = status["StateChangeReason"].get("Message") or status["State"]
    remedy = next((text for word, text in _REMEDIES if word in reason.lower()), _GENERAL)
    where = f"{logs}{cluster['Id']}/"
    last_line = (stderr.strip().splitlines() or [""])[-1]
    said = f"{one_line(reason)}: {one_line(last_line)}" if last_line else one_line(reason)
    return JobFailed(f"cluster {cluster['Id']} ended: {said}; {remedy.format(logs=where)}", stderr)
