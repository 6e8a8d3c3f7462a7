"""CDXJ: an index of archives as sorted lines, which pywb and other programs read.

    org,python,docs)/3 20260509120000 {"url": "https://docs.python.org/3/", "mime": "text/html", …}

A line has the SURT of the URL, the time, and, as JSON, the place of the answer in an archive. Archives of
crawlctl have their names in the store, so a program that is given the folder of the store finds them. An
imported archive has the name of its file only, because its folder would reveal paths of the user's machine.
If two imported archives have the same file name, as many parent folders are added as it takes to distinguish
them. A revisit has a line with its own time and the place of its original.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.captures.capture_table import IMPORTED
from crawlctl.pipeline.crawl.exports.exported_captures import Exported, exported_captures, require_listed
from crawlctl.pipeline.crawl.exports.sorted_lines import SortedLines
from crawlctl.pipeline.crawl.listings.page_captures import capture_timestamp
from crawlctl.pipeline.state.kinds import CAPTURES
from crawlctl.pipeline.urls.surt import surt

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import BinaryIO

    from crawlctl.pipeline.captures.capture_record import CaptureRecord
    from crawlctl.pipeline.crawl.exports.exported_captures import Chosen
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


def cdxj_line(url: str, capture: CaptureRecord) -> bytes:
    """Return the line of a capture, without a line end."""
    fields = {
        "url": url,
        "mime": capture.mime or "unk",
        "status": str(capture.status),
        "digest": capture.digest or "-",
        "length": str(capture.length),
        "offset": str(capture.offset),
        "filename": capture.file,
    }
    return f"{surt(url)} {capture_timestamp(capture)} {json.dumps(fields)}".encode("ascii")


def write_cdxj(store: Store, snapshot: Snapshot, chosen: Chosen, sink: BinaryIO, scratch: Path) -> Exported:
    """Write the lines of the chosen captures; lines beyond the memory limit go into the folder `scratch`."""
    require_listed(snapshot)
    names = imported_names(_imported_archives(store, snapshot, chosen))
    lines, done, archives = SortedLines(scratch), Exported(), set()
    for url, captures in exported_captures(store, snapshot, chosen):
        for capture in captures:
            if not capture.length:
                done.imported += 1
                continue
            lines.add(cdxj_line(url, replace(capture, file=names.get(capture.file, capture.file))))
            archives.add(capture.file)
            done.captures += 1
        done.pages += 1
    sink.writelines(lines)
    done.archives = len(archives)
    done.folders = tuple(sorted({file.removesuffix(name) for file, name in names.items()}))
    return done


def imported_names(files: Iterable[str]) -> dict[str, str]:
    """Return for each path or URI its shortest unique end: the file name, if that is enough."""
    waiting, names, parts = set(files), dict[str, str](), 1
    while waiting:
        ends = {file: "/".join(file.split("/")[-parts:]) for file in waiting}
        often = Counter(ends.values())
        alone = {file: end for file, end in ends.items() if often[end] == 1 or end == file}
        names |= alone
        waiting -= alone.keys()
        parts += 1
    return names


def _imported_archives(store: Store, snapshot: Snapshot, chosen: Chosen) -> set[str]:
    """Return the imported archives of chosen captures; in a crawl without imports nothing is read."""
    if not any(entry.counters.get(IMPORTED) for entry in snapshot.files_of(CAPTURES)):
        return set()
    found = (capture for _, captures in exported_captures(store, snapshot, chosen) for capture in captures)
    return {capture.file for capture in found if capture.is_imported and capture.length}
