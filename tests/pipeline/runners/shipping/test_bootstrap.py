from __future__ import annotations

import re
import subprocess
from importlib.metadata import version
from types import SimpleNamespace
from typing import TYPE_CHECKING

from crawlctl.pipeline.runners.shipping import bootstrap
from crawlctl.pipeline.runners.shipping.bootstrap import bootstrap_script, pins
from crawlctl.pipeline.runners.shipping.environment import conditional_requirements

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_everything_is_pinned_to_what_is_installed_here() -> None:
    assert f"numpy=={version('numpy')}" in pins()
    assert f"botocore=={version('botocore')}" in pins()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+[=>]=\S+", pin) for pin in pins())


def test_what_only_some_versions_of_python_need_is_chosen_by_that_of_the_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = {pin.partition("==")[0] for pin in pins()}
    assert not names & {"setuptools", "standard-pipes"}, "Python 3.11 has distutils and pipes"
    found = {"backports.zstd": SimpleNamespace(name="backports.zstd", version="1.2")}
    needs = conditional_requirements("3.11")
    monkeypatch.setattr(bootstrap, "conditional_requirements", lambda version: needs)
    monkeypatch.setattr(bootstrap, "installed", found.get)
    assert pins()[-1] == "backports.zstd==1.2"
    found.clear()  # as with Python 3.14 on this machine
    assert pins()[-1] == "backports.zstd>=1.0"


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
