"""Writes an export to a local file, which exists only when it is complete."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.exports.formats import FORMATS
from crawlctl.pipeline.errors import NothingMatched, StoreUnavailable
from crawlctl.pipeline.processes.scratch import scratch_folder

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.config.settings import RunnerSettings
    from crawlctl.pipeline.crawl.exports.exported_captures import Chosen, Exported
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


def export_to_file(
    store: Store, snapshot: Snapshot, chosen: Chosen, target: Path, *, form: str, runner: RunnerSettings
) -> Exported:
    """Write the chosen captures to a new file in one of FORMATS; an error leaves no file behind."""
    if target.exists():
        raise StoreUnavailable(f"{target} is there already; delete it, or give another name with -o")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with scratch_folder(runner.tmp_dir) as scratch, part.open("wb") as sink:
            done = FORMATS[form].writer()(store, snapshot, chosen, sink, scratch)
        if not done.captures:
            raise NothingMatched(
                "there is no capture to export; `crawlctl pages` lists the pages of the crawl"
                if not done.imported
                else "all captures lie in imported archives, which are files of your own"
            )
        part.replace(target)
    except OSError as err:
        raise StoreUnavailable(f"{target} cannot be written: {err.strerror}; check path and disk") from err
    finally:
        part.unlink(missing_ok=True)
    return done
