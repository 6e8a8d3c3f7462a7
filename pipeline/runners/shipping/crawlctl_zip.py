"""The crawlctl package as one zip, for tasks that run in another interpreter or on another machine.

It has the byte code for our version of Python beside the sources, because zipimport caches none and every
task would compile the modules again. Another version of Python ignores it and uses the sources.
"""

from __future__ import annotations

import hashlib
import py_compile
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import crawlctl
from crawlctl.pipeline.runners.shipping.package_cache import cached_file

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = "crawlctl.zip"  # the name of the zip in the folder of a task
SHIPPED_FOLDERS = ("conf", "jobs", "pipeline")
# The oldest time in a zip; it is fixed so that the same sources give the same bytes.
ZIP_TIME = (1980, 1, 1, 0, 0, 0)


def package_zip(scratch: Path) -> Path:
    """Return the zip of the package, from the user's cache if its content is unchanged."""
    root = Path(crawlctl.__file__).parent
    files = sorted(shipped_files(root))
    name = f"crawlctl-{_digest(root, files)}.zip"
    return cached_file(name, scratch, lambda target: _write_zip(target, root, files))


def shipped_files(root: Path) -> Iterator[Path]:
    """Yield the files of the package, without the tests and tools of a checkout."""
    yield from root.glob("*.py")
    for folder in SHIPPED_FOLDERS:
        for path in (root / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def _digest(root: Path, files: list[Path]) -> str:
    digest = hashlib.blake2b(sys.version.encode(), digest_size=16)
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _write_zip(target: Path, root: Path, files: list[Path]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            name = f"crawlctl/{path.relative_to(root).as_posix()}"
            archive.writestr(_entry(name), path.read_bytes())
            if path.suffix == ".py" and (code := _byte_code(path, name, target.parent)):
                archive.writestr(_entry(name + "c"), code)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, ZIP_TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _byte_code(path: Path, name: str, scratch: Path) -> bytes | None:
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compiled = scratch / "compiled"
    try:
        py_compile.compile(str(path), str(compiled), name, doraise=True, invalidation_mode=mode)
    except py_compile.PyCompileError:
        return None  # the import of the source reports the error
    return compiled.read_bytes()
