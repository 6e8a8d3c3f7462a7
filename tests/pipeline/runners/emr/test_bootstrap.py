"""The dependencies that conf/emr.conf installs on the nodes are all that crawlctl needs there."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from crawlctl.pipeline.runners.shipping.crawlctl_zip import package_zip
from crawlctl.tests.pipeline.runners.emr.settings import CONF

if TYPE_CHECKING:
    from pathlib import Path

IMPORT_ALL = """
import importlib, pkgutil, sys
import crawlctl
served = "crawlctl.pipeline.serve", "crawlctl.pipeline.commands.search.serve"  # nodes serve no search page
found = pkgutil.iter_modules(crawlctl.__path__, "crawlctl.")
names = []
while found:
    module, *found = found
    if module.name not in served:
        names.append(module.name)
        package = importlib.import_module(module.name)
        found += pkgutil.iter_modules(package.__path__, f"{module.name}.") if module.ispkg else ()
print(crawlctl.__file__, len(names))
"""


@pytest.mark.integration
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the nodes have Python 3.11")
def test_a_fresh_python_with_what_the_bootstrap_installs_imports_all_of_crawlctl(tmp_path: Path) -> None:
    """Not by root on Amazon Linux; but the list is complete, and nothing has to be compiled."""
    *_, install = yaml.safe_load(CONF.read_text())["runners"]["emr"]["bootstrap"]
    sudo, python, *arguments = shlex.split(install)
    assert (sudo, python, arguments[:3]) == ("sudo", "python3.11", ["-m", "pip", "install"])
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "node"], check=True)
    node = str(tmp_path / "node" / "bin" / "python")
    wheels = ["--only-binary=:all:", "-q", "--disable-pip-version-check"]
    subprocess.run([node, *arguments, *wheels], check=True, cwd=tmp_path)
    done = subprocess.run(
        [node, "-W", "error::ImportWarning", "-c", IMPORT_ALL],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(package_zip(tmp_path))},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    place, count = done.stdout.split()
    assert ".zip/" in place and int(count) > 200
