"""The package list is the folders found, and nothing but the name crawlctl is installed."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CODE_FOLDERS = ("jobs", "pipeline")
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
OF_MAKE = ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "PYTHON", "NEWEST", "VENV")
FAKE_PYTHON = """#!/bin/sh
case " $STARTS " in *" {name} "*) exec "$REAL" "$@" ;; esac
exit 127
"""


def environment() -> dict[str, str]:
    """Return the environment without what a make around these tests has set."""
    return {name: value for name, value in os.environ.items() if name not in OF_MAKE}


def options() -> configparser.SectionProxy:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    return settings["options"]


def packages_listed() -> set[str]:
    return set(options()["packages"].split())


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
    rules = ["make", "--dry-run", "--always-make", "demo"]
    printed = subprocess.check_output(rules, cwd=ROOT, env=environment(), text=True)
    assert re.findall(r"pip install .* -e (.*)", printed) == ["."]
    assert "Setting up .venv: " in printed, "installing takes a minute or two, and says so"


@pytest.mark.parametrize("place", ["Makefile", "README.md", "docs/quickstart.md", "docs/hadoop.md"])
def test_every_place_names_the_same_versions_of_python(place: str) -> None:
    assert options()["python_requires"] == ">=3.11,<3.15"
    named = re.findall(r"\b3\.(\d+) to 3\.(\d+)", (ROOT / place).read_text(encoding="utf-8"))
    assert ("11", "14") in named
    assert set(named) <= {("11", "14"), ("12", "14")}, "the second are those of make test-newest"


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """A machine on which no version of Python starts until a test says so; 3.12 is kept by pyenv."""
    kept = tmp_path / "pyenv" / "versions" / "3.12.1" / "bin" / "python"
    kept.parent.mkdir(parents=True)
    for place in (kept, *(tmp_path / f"python{version}" for version in VERSIONS)):
        place.write_text(FAKE_PYTHON.format(name=place.name))
        place.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    return {**environment(), "PATH": path, "PYENV_ROOT": str(tmp_path / "pyenv"), "REAL": sys.executable}


@pytest.mark.parametrize(
    ("starts", "oldest", "newest"),
    [
        ("python3.11 python3.12 python3.14", "python3.11", "python3.14"),
        ("python3.13 python3.14", "python3.13", "python3.14"),
        ("python3.11 python", "python3.11", "versions/3.12.1/bin/python"),
        ("python3.11", "python3.11", ""),
        ("", "", ""),
    ],
)
def test_make_finds_the_oldest_and_the_newest_python(
    machine: dict[str, str], starts: str, oldest: str, newest: str
) -> None:
    rules = ["make", "--no-print-directory", "--eval", "found: ; @echo '$(OLDEST)|$(NEWEST)'", "found"]
    printed = subprocess.check_output(rules, cwd=ROOT, env={**machine, "STARTS": starts}, text=True)
    found = printed.strip().split("|")
    assert found[0] == oldest
    assert found[1].endswith(newest) and bool(found[1]) == bool(newest)


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
    folders = ("serve/templates", "serve/static")
    files = [path for folder in folders for path in (ROOT / "pipeline" / folder).iterdir()]
    shipped |= {str(path.relative_to(ROOT)) for path in files}
    assert {f"crawlctl/{name}" for name in shipped} <= set(names)
    assert not [name for name in names if name.startswith("crawlctl/tests/")]
