"""CDXJ: an index of archives as sorted lines, which pywb and other programs read.

    org,python,docs)/3 20260509120000 {"url": "https://docs.python.org/3/", "mime": "text/html", …}

A line has the SURT of the URL, the time, and as JSON where the answer lies. The names of our archives are
those in the store, so a program that is given the folder of the store finds them. An imported archive has its
path or URI. A revisit has a line with its own time and the place of its original.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.exports.exported_captures import Exported, exported_captures, require_listed
from crawlctl.pipeline.crawl.exports.sorted_lines import SortedLines
from crawlctl.pipeline.crawl.listings.page_captures import capture_timestamp
from crawlctl.pipeline.urls.surt import surt

if TYPE_CHECKING:
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
    """Write the lines of the chosen captures; what does not fit into memory lies in the folder `scratch`."""
    require_listed(snapshot)
    lines, done, archives = SortedLines(scratch), Exported(), set()
    for url, captures in exported_captures(store, snapshot, chosen):
        for capture in captures:
            if not capture.length:
                done.imported += 1
                continue
            lines.add(cdxj_line(url, capture))
            archives.add(capture.file)
            done.captures += 1
        done.pages += 1
    sink.writelines(lines)
    done.archives = len(archives)
    return done
