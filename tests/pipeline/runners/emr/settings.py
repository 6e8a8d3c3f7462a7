"""conf/emr.conf as a user would fill it in, with a quick look at steps and the Python of the tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

import crawlctl

CONF = Path(crawlctl.__file__).parent / "conf" / "emr.conf"
FILLED_IN = {
    "your-bucket": "emr-test",
    "your-service-role": "crawlctl-service",
    "your-instance-profile": "crawlctl-nodes",
    "your-subnet-1": "subnet-1",
    "your-subnet-2": "subnet-2",
    "your-master-group": "sg-1",
    "your-worker-group": "sg-2",
}
BUCKET = FILLED_IN["your-bucket"]


def filled_in(**changes: Any) -> dict[str, Any]:
    """Return our settings without placeholders, with the changes to options."""
    text = CONF.read_text()
    for placeholder, value in FILLED_IN.items():
        text = text.replace(placeholder, value)
    conf: dict[str, Any] = yaml.safe_load(text)
    conf["runners"]["emr"].update(changes)
    return conf


def write_conf(folder: Path, **changes: Any) -> Path:
    """Write such settings for a run of a test."""
    # check_cluster_every: mrjob refuses 0. pool_jitter_seconds: before a first cluster is made.
    quick = {"check_cluster_every": 0.2, "pool_jitter_seconds": 0, "python_bin": sys.executable}
    path = folder / "emr.conf"
    path.write_text(yaml.safe_dump(filled_in(**{**quick, **changes})))
    return path
