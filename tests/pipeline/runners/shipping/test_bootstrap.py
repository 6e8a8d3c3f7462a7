from __future__ import annotations

import re
import subprocess
from importlib.metadata import version
from typing import TYPE_CHECKING

from crawlctl.pipeline.runners.shipping import bootstrap, environment
from crawlctl.pipeline.runners.shipping.bootstrap import bootstrap_script, pins
from crawlctl.tests.pipeline.runners.shipping.fake_distribution import Installed

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_everything_is_pinned_to_what_is_installed_here() -> None:
    assert f"msgspec=={version('msgspec')}" in pins()
    assert f"botocore=={version('botocore')}" in pins()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+[=>]=\S+", pin) for pin in pins())


def test_what_only_some_versions_of_python_need_is_chosen_by_that_of_the_nodes() -> None:
    names = {re.split("[=>]=", pin)[0] for pin in pins()}
    assert not names & {"setuptools", "standard-pipes"}, "Python 3.11 has distutils and pipes"
    assert "backports.zstd" in names, "Python 3.11 has no Zstandard"


def test_a_version_that_the_nodes_cannot_use_is_not_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {
        "crawlctl": Installed("crawlctl", "a>=2", "b", 'c>=3; python_version < "3.14"', "d"),
        "a": Installed("a", "deep", "odd", version="2.5", python=">=3.12"),
        "b": Installed("b", version="7", python=">=3.8"),
        "d": Installed("d", version="1"),
        "deep": Installed("deep", version="4", python=">=3.12"),
        "odd": Installed("odd", version="5"),
    }
    monkeypatch.setattr(environment, "installed", here.get)
    monkeypatch.setattr(bootstrap, "installed", here.get)
    assert pins() == ["b==7", "d==1", "odd==5", "a>=2", "c>=3"]


def test_the_script_installs_the_pins_and_stops_at_the_first_failure(tmp_path: Path) -> None:
    script = bootstrap_script(tmp_path)
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    fake = bin_folder / "sudo"
    fake.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n[ "$1" != dnf ] || exit ${{DNF:-0}}\n')
    fake.chmod(0o755)
    env = {"PATH": f"{bin_folder}:/usr/bin:/bin"}
    subprocess.run(["sh", script], env=env, check=True)
    install, packages = (tmp_path / "calls").read_text().splitlines()
    assert install == "dnf install -y python3.11-pip"
    assert packages.split() == ["python3.11", "-m", "pip", "install", "--prefer-binary", *pins()]
    failed = subprocess.run(["sh", script], env={**env, "DNF": "1"}, check=False)
    assert failed.returncode == 1
    assert (tmp_path / "calls").read_text().count("pip install") == 1


def test_the_name_changes_with_the_content(tmp_path: Path) -> None:
    assert re.fullmatch(r"bootstrap-[0-9a-f]{32}\.sh", bootstrap_script(tmp_path).name)
    assert bootstrap_script(tmp_path) == bootstrap_script(tmp_path)
