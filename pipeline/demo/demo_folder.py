"""The folder in which a demo keeps its crawl and its seed file, until the next demo replaces it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CrawlctlError

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path("crawlctl-demo")
CRAWL = FOLDER / "crawl"
SEEDS = FOLDER / "seeds.txt"
# The first line of the seed file, by which the next demo knows a folder that it may delete.
_MARK = "# Written by `crawlctl demo`; the next `crawlctl demo` replaces this folder."


def make_folder() -> None:
    """Make the folder; the folder of an earlier demo is deleted first, and any other is left alone.

    The hosts of a demo are ports, and the next demo has other ports: so it cannot continue the last crawl.
    """
    if FOLDER.exists():
        if not _is_of_a_demo():
            raise CrawlctlError(
                f"{FOLDER} is not the folder of an earlier demo; move it away, or name another with --store"
            )
        shutil.rmtree(FOLDER)
    FOLDER.mkdir()
    write_seeds(SEEDS, ())


def write_seeds(path: Path, urls: Iterable[str]) -> None:
    """Write a seed file that marks its folder as that of a demo."""
    path.write_text("".join(f"{line}\n" for line in (_MARK, *urls)), encoding="utf-8")


def _is_of_a_demo() -> bool:
    try:
        return SEEDS.read_text(encoding="utf-8").startswith(_MARK)
    except (OSError, UnicodeDecodeError):
        return False
