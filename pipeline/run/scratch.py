"""A folder for the files of one step or job, which is gone afterwards whatever happens."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def scratch_folder(parent: str | None) -> Iterator[Path]:
    """Give a new folder below a parent, or below $TMPDIR, and remove it in the end."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="crawlctl-", dir=parent))
    except OSError as err:
        raise ConfigError(f"no scratch folder can be made: {err}; let TMPDIR name a place for it") from err
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder with all in it; a signal in the middle of that, which ends us, finds it removed."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
