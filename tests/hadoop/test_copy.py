"""A crawl begun on a laptop grows on Hadoop: it is copied to HDFS, and put into more partitions there."""

from __future__ import annotations

import subprocess
import sys
import uuid
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.store.open import open_store
from crawlctl.tests.pipeline.copies.holdings import holdings
from crawlctl.tests.pipeline.copies.made_crawl import make_crawl

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.integration, pytest.mark.hadoop, pytest.mark.timeout(1200)]


def test_the_partitions_of_a_copy_are_made_by_hadoop(
    client: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = LocalStore(tmp_path / "crawl")
    make_crawl(source, 2)
    place = f"hdfs:///tests/copy/{uuid.uuid4().hex}"
    steps = (["crawl", f"{place}/first"], [f"{place}/first", f"{place}/more", "--partitions", "3"])
    for arguments in steps:
        command = [sys.executable, "-m", "crawlctl.cli", "copy", *arguments, "--runner", "hadoop"]
        done = subprocess.run(command, cwd=tmp_path, env=client, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    monkeypatch.setenv("HADOOP_CONF_DIR", client["HADOOP_CONF_DIR"])
    assert holdings(open_store(f"{place}/more")) == holdings(source)
