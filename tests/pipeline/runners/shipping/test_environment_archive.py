from __future__ import annotations

import marshal
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path, PurePosixPath

import pytest

from crawlctl.pipeline.runners.shipping.crawlctl_zip import package_zip
from crawlctl.pipeline.runners.shipping.environment import (
    environment_archive,
    required_distributions,
    this_interpreter,
)
from crawlctl.pipeline.runners.shipping.environment_archive import (
    HEADER,
    Interpreter,
    byte_code,
    is_needed,
    python_script,
    write_archive,
)

JOBS = ", ".join(
    f"crawlctl.jobs.{name}"
    for name in ("fetch_index", "merge_index", "rank_iterate", "import_warc", "upkeep.check_crawl")
)
NO_PATH = {"PATH": "/usr/bin:/bin"}


def call(script: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [script, *arguments], env={**NO_PATH, **env}, capture_output=True, text=True, check=False
    )


def script_for(folder: Path, interpreter: Interpreter) -> Path:
    script = folder / "bin" / "python"
    script.parent.mkdir(parents=True)
    script.write_text(python_script(interpreter))
    script.chmod(0o755)
    return script


def other(**change: str) -> Interpreter:
    return Interpreter(**{**vars(this_interpreter()), **change})


@pytest.mark.integration
def test_the_jobs_run_from_the_archive_and_the_package_alone(tmp_path: Path) -> None:
    with tarfile.open(environment_archive(tmp_path)) as archive:
        archive.extractall(tmp_path / "env", filter="tar")
    shutil.copy(package_zip(tmp_path), tmp_path / "crawlctl.zip")
    code = f"import sys, numpy, {JOBS}; print(sys.flags.no_user_site, numpy.__file__, crawlctl.__file__)"
    done = subprocess.run(
        ["env/bin/python", "-c", code],
        cwd=tmp_path,
        env={**NO_PATH, "PYTHONPATH": "crawlctl.zip", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        "1",
        f"{tmp_path}/env/lib/numpy/__init__.py",
        f"{tmp_path}/crawlctl.zip/crawlctl/__init__.pyc",
    ]


def test_the_same_parts_give_the_same_bytes(tmp_path: Path) -> None:
    parts = [part for part in required_distributions() if part.name in {"click", "certifi"}]
    for name in ("first", "second"):
        write_archive(tmp_path / name, parts, this_interpreter())
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("numpy/__init__.py", True),
        ("numpy/testing/__init__.py", True),
        ("numpy.libs/libopenblas.so", True),
        ("botocore/data/s3/2006-03-01/service-2.json.gz", True),
        ("botocore/data/endpoints.json", True),
        ("botocore/data/ec2/2016-11-15/service-2.json.gz", False),
        ("numpy/_core/tests/test_umath.py", False),
        ("numpy/__pycache__/version.cpython-311.pyc", False),
        ("yaml/_yaml.h", False),
        ("../../../bin/f2py", False),
    ],
)
def test_what_tasks_cannot_want_stays_here(name: str, needed: bool) -> None:
    assert is_needed(PurePosixPath(name)) is needed


def test_byte_code_is_valid_whatever_the_time_of_the_source(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    source.write_text("answer = 42\n")
    fresh = byte_code(source, source.read_bytes())
    subprocess.run([sys.executable, "-m", "py_compile", source], env=dict(NO_PATH), check=True)
    taken_over = byte_code(source, source.read_bytes())
    assert fresh is not None and taken_over is not None
    assert fresh[:HEADER] == taken_over[:HEADER]
    for code in (fresh, taken_over):
        told: dict[str, int] = {}
        exec(marshal.loads(code[HEADER:]), told)
        assert told["answer"] == 42
    (cached,) = (tmp_path / "__pycache__").iterdir()
    cached.write_bytes(taken_over)
    os.utime(source, (0, 0))
    command = [sys.executable, "-c", "import module"]
    subprocess.run(command, cwd=tmp_path, env=dict(NO_PATH), check=True)
    assert cached.read_bytes() == taken_over  # what is not valid would have been replaced


def test_byte_code_of_an_older_source_is_not_taken_over(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    source.write_text("answer = 41\n")
    subprocess.run([sys.executable, "-m", "py_compile", source], env=dict(NO_PATH), check=True)
    source.write_text("answer = 42\n")
    os.utime(source, (1, 1))
    code = byte_code(source, source.read_bytes())
    told: dict[str, int] = {}
    assert code is not None
    exec(marshal.loads(code[HEADER:]), told)
    assert told["answer"] == 42


def test_what_cannot_be_compiled_goes_as_it_is(tmp_path: Path) -> None:
    source = tmp_path / "template.py"
    source.write_text("def {{ name }}():")
    assert byte_code(source, source.read_bytes()) is None


def test_the_python_of_the_node_is_found_by_its_version(tmp_path: Path) -> None:
    script = script_for(tmp_path / "env", other(path="/nowhere/python"))
    home = tmp_path / "bin"
    home.mkdir()
    (home / f"python{this_interpreter().version}").symlink_to(sys.executable)
    done = call(script, "-c", "import sys; print(sys.path[1])", PATH=f"{home}:/usr/bin:/bin")
    assert done.stdout.strip() == f"{tmp_path}/env/lib"
    named = call(script, "-c", "import sys; print(sys.executable)", CRAWLCTL_PYTHON=sys.executable)
    assert named.stdout.strip() == sys.executable


def test_a_node_without_that_python_says_so(tmp_path: Path) -> None:
    script = script_for(tmp_path / "env", other(version="3.99", path="/nowhere/python"))
    done = call(script, "job.py")
    assert done.returncode == 78
    assert done.stderr == (
        f"crawlctl: {platform.node()} has no python3.99; install it there, "
        "or name it by CRAWLCTL_PYTHON in runner.task_env\n"
    )


def test_a_node_of_another_kind_says_so(tmp_path: Path) -> None:
    done = call(script_for(tmp_path / "env", other(system="Plan9 mips")), "job.py")
    assert done.returncode == 78
    assert "and the environment is for Plan9 mips; pack it on a machine like the nodes" in done.stderr
