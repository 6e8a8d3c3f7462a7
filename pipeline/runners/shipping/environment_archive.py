"""The archive of an environment: lib/ with the packages, and a bin/python.

bin/python is a script that finds the node's own Python.

Nodes need a Python of the same minor version for the same system, anywhere on their PATH. The packages have
byte code that is valid wherever it is unpacked, so no task compiles them again.
"""

from __future__ import annotations

import importlib.util
import io
import marshal
import tarfile
import warnings
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.metadata import Distribution

LAYOUT = 1  # increase it when the archive of the same packages changes
PYTHON = "bin/python"
LEVEL = 3  # the best level of isal, in a tenth of zlib's time
HEADER = 16  # bytes before the code in a .pyc
UNCHECKED = b"\1\0\0\0"  # the flags of byte code that Python does not check against its source
# Botocore describes every AWS service; tasks use S3, and the others here only for credentials.
SERVICES = frozenset({"s3", "sts", "sso", "sso-oidc", "signin"})
NEEDLESS_FOLDERS = frozenset({"test", "tests", "__pycache__", "examples"})
NEEDLESS_SUFFIXES = frozenset({".a", ".c", ".h", ".pxd", ".pyi", ".pyx"})

PYTHON_SCRIPT = """\
#!/bin/sh
# Runs Python {version} of this machine with the packages that lie beside this file.
fail() {{
    echo "crawlctl: $(uname -n) $1" >&2
    exit 78
}}
[ "$(uname -sm)" = {system} ] ||
    fail "is $(uname -sm), and the environment is for {plain_system}; pack it on a machine like the nodes"
root=$(cd "$(dirname "$0")/.." && pwd)
name=python{version}
for python in "$CRAWLCTL_PYTHON" {path} $name /usr/local/bin/$name /usr/bin/$name
do
    if [ -n "$python" ] && found=$(command -v "$python")
    then
        export PYTHONPATH="$root/lib${{PYTHONPATH:+:$PYTHONPATH}}"
        exec "$found" -s "$@"
    fi
done
fail "has no $name; install it there, or name it by CRAWLCTL_PYTHON in runner.task_env"
"""


@dataclass(frozen=True)
class Interpreter:
    """The Python that an archive is for: X.Y, its path here, and `uname -sm` of machines that can load it."""

    version: str
    path: str
    system: str


def write_archive(target: Path, parts: Iterable[Distribution], interpreter: Interpreter) -> None:
    """Write the distributions as a tar.gz; the same distributions give the same bytes."""
    from isal import igzip

    with (
        target.open("wb") as raw,
        igzip.IGzipFile("", "wb", LEVEL, raw, mtime=0) as packed,  # type: ignore[no-untyped-call]
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        _add(archive, PYTHON, python_script(interpreter).encode(), 0o755)
        for part in parts:
            for name, content, mode in _files(part):
                _add(archive, f"lib/{name}", content, mode)


def python_script(interpreter: Interpreter) -> str:
    """Return the script that is bin/python in the archive."""
    return PYTHON_SCRIPT.format(
        version=interpreter.version,
        path=quote(interpreter.path),
        system=quote(interpreter.system),
        plain_system=interpreter.system,
    )


def is_needed(name: PurePosixPath) -> bool:
    """Return whether tasks may need a file of a distribution."""
    parts = name.parts
    if ".." in parts or name.is_absolute():  # programs in bin/ of the virtual environment
        return False
    if parts[0] in {"boto3", "botocore"} and parts[1:2] == ("data",) and len(parts) > 3:
        return parts[2] in SERVICES
    return not NEEDLESS_FOLDERS & set(parts[:-1]) and name.suffix not in NEEDLESS_SUFFIXES


def _files(part: Distribution) -> Iterator[tuple[str, bytes, int]]:
    """Yield name, content and mode of the files of a distribution, and of the byte code of its sources."""
    names = sorted({PurePosixPath(str(path)) for path in part.files or ()})
    for name in filter(is_needed, names):
        path = Path(str(part.locate_file(str(name))))
        if not path.is_file():
            continue
        content = path.read_bytes()
        yield str(name), content, 0o755 if path.stat().st_mode & 0o100 else 0o644
        if name.suffix == ".py" and (code := byte_code(path, content)) is not None:
            compiled = Path(importlib.util.cache_from_source(name.name)).name
            yield str(name.parent / "__pycache__" / compiled), code, 0o644


def byte_code(source: Path, content: bytes) -> bytes | None:
    """Return the byte code of a source, valid whatever file times unpacking sets."""
    code = _installed_code(source) or _compiled(source, content)
    if code is None:
        return None
    return importlib.util.MAGIC_NUMBER + UNCHECKED + importlib.util.source_hash(content) + code


def _installed_code(source: Path) -> bytes | None:
    """Return the byte code that pip compiled, if its header has the time and length of this source."""
    try:
        compiled = Path(importlib.util.cache_from_source(str(source))).read_bytes()
    except OSError:
        return None
    status = source.stat()
    times = b"".join(
        (number & 0xFFFFFFFF).to_bytes(4, "little") for number in (0, int(status.st_mtime), status.st_size)
    )
    is_current = compiled[:HEADER] == importlib.util.MAGIC_NUMBER + times
    return compiled[HEADER:] if is_current else None


def _compiled(source: Path, content: bytes) -> bytes | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the code of other projects
            return marshal.dumps(compile(content, source.name, "exec", dont_inherit=True))
    except (SyntaxError, ValueError):
        return None  # a template, or for another version of Python


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    archive.addfile(entry, io.BytesIO(content))
