"""The package list is the folders found, and nothing but the name crawlctl is installed."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
CODE_FOLDERS = ("jobs", "pipeline")


def packages_listed() -> set[str]:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    return set(settings["options"]["packages"].split())


def packages_found() -> set[str]:
    inits = [path for folder in CODE_FOLDERS for path in (ROOT / folder).rglob("__init__.py")]
    return {"crawlctl"} | {".".join(("crawlctl", *path.parent.relative_to(ROOT).parts)) for path in inits}


def test_packages_listed_are_the_folders_found() -> None:
    assert packages_listed() == packages_found()


def test_every_folder_with_code_is_a_package() -> None:
    folders = {path.parent for folder in CODE_FOLDERS for path in (ROOT / folder).rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_only_the_program_stands_at_the_root() -> None:
    assert {path.name for path in ROOT.glob("*.py")} == {"__init__.py", "__main__.py", "cli.py"}


def test_no_job_or_room_of_jobs_is_named_like_a_module_of_the_standard_library() -> None:
    """A job that is started by its path finds the files and folders beside it before all others."""
    assert {path.stem for path in (ROOT / "jobs").rglob("*")} & sys.stdlib_module_names == set()


def test_the_demo_installs_only_what_it_runs() -> None:
    printed = subprocess.run(
        ["make", "--dry-run", "--always-make", "demo"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert re.findall(r"pip install .* -e (.*)", printed) == ["."]
    assert "Setting up .venv: " in printed, "installing takes a minute or two, and says so"


def test_the_wheel_holds_only_crawlctl(tmp_path: Path) -> None:
    # A copy, because building leaves folders behind that would be taken for code.
    hidden = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__")
    source = shutil.copytree(ROOT, tmp_path / "source", ignore=hidden)
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(tmp_path),
        str(source),
    ]
    built = subprocess.run(build, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"crawlctl"}
    shipped = {"py.typed", "seed.txt", "conf/crawl.yaml", "cli.py", "__main__.py", "pipeline/errors.py"}
    assert {f"crawlctl/{name}" for name in shipped} <= set(names)
    assert not [name for name in names if name.startswith("crawlctl/tests/")]
